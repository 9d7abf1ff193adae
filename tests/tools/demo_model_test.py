#!/usr/bin/env python3
"""The demo model's generators and its prompts in free words.

    python3 tests/tools/demo_model_test.py [TESSERA]    with the program: its manual is compared with `tessera --help` too
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from demo_model import generate, judge, manual, overlap  # noqa: E402
from demo_model.generate.free import basics, chatter, composed, errands, everyday, forms, grammar, heard, letters, lexicon, limits, lists, needs, ordering, orders, ordinary, paragraphs, pulled, scenes, spans, statements, stories, toolbox  # noqa: E402
from demo_model.generate.free import manual as questions  # noqa: E402
from demo_model.generate.words import Words  # noqa: E402

PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None


def said(text, calls=(), ended=True):
    return {"content": text, "calls": list(calls), "ended": ended}


class Generators(unittest.TestCase):
    def test_every_kind_gives_whole_dialogues(self):
        for kind in generate.SHARES:
            for evaluation in (False, True):
                for i in range(60):
                    d = generate.dialogue(f"test {i}", evaluation, kind)
                    if kind == "plain":
                        self.assertTrue(d["text"].strip())
                        continue
                    with self.subTest(kind=kind, i=i):
                        self.assertEqual(d["messages"][-1]["role"], "assistant")
                        self.assertTrue(d["messages"][-1]["content"] or d["messages"][-1].get("tool_calls"), d)
                        for m in d["messages"]:
                            self.assertIsNone(re.search(r"\{[a-zA-Z]\w?\}|\(\w+\|", m["content"]) if kind in ("chat", "facts", "needs", "memory", "basics", "errands") else None, m["content"])

    def test_the_same_seed_gives_the_same_dialogue(self):
        for kind in generate.SHARES:
            self.assertEqual(generate.dialogue("again", False, kind), generate.dialogue("again", False, kind))

    def test_calls_name_offered_tools_and_their_parameters(self):
        for i in range(2000):
            d = generate.dialogue(f"calls {i}", False, ("needs", "toolbox", "errands")[i % 3])
            schemas = {t["function"]["name"]: t["function"]["parameters"] for t in d["tools"]}
            self.assertEqual(len(schemas), len(d["tools"]), "two tools of one name")
            for c in (c["function"] for m in d["messages"] for c in m.get("tool_calls", [])):
                properties = schemas[c["name"]]["properties"]
                self.assertLessEqual(c["arguments"].keys(), properties.keys())
                self.assertLessEqual(set(schemas[c["name"]]["required"]), c["arguments"].keys())
                for name, value in c["arguments"].items():
                    types = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list}[properties[name]["type"]]
                    self.assertIsInstance(value, types, (c["name"], name))
                    self.assertIn(value, properties[name].get("enum", [value]))

    def test_what_is_missing_is_not_in_the_call_and_asked_for(self):
        for i in range(300):
            w = Words(random.Random(f"missing {i}"))
            messages, tools, _ = needs.missing(w)
            self.assertNotIn("tool_calls", messages[1])
            self.assertRegex(messages[1]["content"], r"\?|tell me")

    def test_requests_of_the_toolbox_name_their_parameters(self):
        for tool in toolbox.TOOLS:
            self.assertTrue(tool["full"], tool["names"])
            for question in tool["questions"].values():
                self.assertTrue(question.endswith("?"), question)
            for given, pattern in tool["full"] + tool["partial"]:
                letters = {p[0] for p in tool["parameters"]}
                self.assertLessEqual(set(given) | set(re.findall(r"\{(\w)\}", pattern)), letters, pattern)

    def test_snippets_print_what_is_said(self):
        for i in range(300):
            question, thought, answer, _ = limits.question_of(Words(random.Random(f"snippets {i}")))
            self.assertTrue(answer)
            self.assertNotRegex(question + thought, r"\{[a-z]\d?\}")

    def test_forms_are_held_out(self):
        pattern = "(a|b|c) (d|e|f) (g|h|i) [j]"
        both = {e: Words(random.Random(1), e) for e in (False, True)}
        drawn = {e: {grammar.form(w, pattern) for _ in range(2000)} for e, w in both.items()}
        held_out = {f for f in drawn[False] | drawn[True] if grammar.held_out_form(f)}
        self.assertEqual(len(drawn[False] | held_out), grammar.compiled(pattern)[1])
        self.assertTrue(held_out)
        self.assertFalse(drawn[False] & held_out)
        self.assertTrue(held_out <= drawn[True])

    def test_what_is_told_answers_what_is_asked_for_it(self):
        """Also after a correction; only the summing up of several parts is put together."""
        for row in statements.SAID:
            for i in range(12):
                w = Words(random.Random(f"statement {i}"), i % 2 == 1)
                w.thinking = True
                statement = statements.Statement(w, row, set())
                told = statement.tells(w)[1]
                if statement.corrections and i % 3 == 0:
                    told = statement.corrected(w)[1]
                for _ in row[1]:
                    question, thought, answer = statement.asked(w)
                    mine = [x for x in re.findall(r"[\w:.']+", answer) if x not in ("your", "you", "works", "points", "euros", "hours", "on", "the", "to", "see", "and", "because", "for", "a", "when", "from", "class", "goes")]
                    with self.subTest(said=row[0], question=question):
                        self.assertTrue(all(x.lower() in told.lower() for x in mine), (told, answer))
                        self.assertIn(statement.known, thought)
                        self.assertNotRegex(question + answer + told, r"[{}|]")

    def test_rows_are_told_before_they_are_asked_for(self):
        for i in range(400):
            w = Words(random.Random(f"rows {i}"))
            s = scenes.Scene(w)
            text, (question, _, answer, _) = s.text(w).lower(), w.any(scenes.lookup, scenes.which, scenes.two_steps)(w, s)
            told = [str(v).lower() for row in s.rows for v in row.values() if str(v).lower() in answer.lower()]
            self.assertTrue(told, (question, answer))
            self.assertTrue(all(v in text or lexicon.plural(v) in text for v in told), (text, answer))

    def test_what_a_thought_quotes_stands_in_the_text(self):
        for i in range(600):
            for module in (paragraphs, composed):
                question, thought, answer, _ = module.question_of(Words(random.Random(f"quotes {i}")))
                self.assertNotRegex(question + thought + answer, r"[{}]")
                for quote in re.findall(r"The text says: (.+?\.)(?= The text says| That differs| In it: | [\d,]+ [+-] \d|$)", thought):
                    self.assertIn(quote, question)

    def test_json_is_what_its_check_says(self):
        for i in range(400):
            _, _, answer, check = forms.question_of(Words(random.Random(f"forms {i}")))
            if "json" in check:
                self.assertEqual(json.loads(answer), check["json"])

    def test_a_selection_holds_every_item_once(self):
        for i in range(200):
            items = ordering.words_of(Words(random.Random(f"selection {i}")), 5)
            thought = ordering.selection(items, sorted(items))
            self.assertEqual([step.rsplit(": ", 1)[1] for step in thought.split("; then ")[0].split("; ")] + [thought.split("; then ")[1].rstrip(".")], sorted(items))

    def test_sums_of_stories_and_lists_are_right(self):
        for i in range(400):
            for module in (stories, lists):
                _, thought, answer, check = module.question_of(Words(random.Random(f"sums {i}")))
                for a, op, b, c in re.findall(r"(?<![\d=.]) ?(\d+) ([+x-]) (\d+) = (\d+)\.", thought):
                    self.assertEqual({"+": int(a) + int(b), "-": int(a) - int(b), "x": int(a) * int(b)}[op], int(c), thought)
                if "number" in check:
                    self.assertEqual(re.findall(r"\d+", answer)[0], str(check["number"]))

    def test_word_problems_follow_from_their_formulas(self):
        """Every question of every row: its last number is what plain arithmetic gives, and the numbers of the story are told."""
        given = {"part": lambda p, x: p * x / 100, "up": lambda x, y: -(-x // y), "far": lambda x, y: abs(x - y)}
        for row, shape in enumerate(everyday.SHAPES):
            self.assertTrue(shape.questions)
            for i in range(12):
                values = shape.drawn(Words(random.Random(f"{row} {i}")))
                for question, formulas, _ in shape.questions:
                    known = dict(values)
                    for formula in formulas:
                        name, _, expression = formula.rpartition("=")
                        known[name] = eval(expression, given, known)
                    with self.subTest(row=shape.text, question=question, values=values):
                        result, thought = everyday.solve(formulas, values)
                        self.assertEqual(result, known[""])
                        self.assertGreaterEqual(result, 0)
                        self.assertRegex(thought, rf"(?<!\d){result}\.$")
                w = Words(random.Random(f"told {row} {i}"))
                told, thought, answer, check = everyday.problem(w, shape)
                self.assertNotRegex(told + thought + answer, r"[{}|]|\[\?\]")
                self.assertEqual(re.findall(r"\d+", answer), [str(check["number"])])

    def test_clock_times_add_up(self):
        """The times that a thought goes through lead to the answer, and read backwards to the first one."""
        minutes = lambda t: int(t.split(":")[0]) * 60 + int(t.split(":")[1])
        for at in range(5 * 60, 18 * 60, 7):
            for span in range(1, 200, 11):
                forth, back, far = spans.after(at, span), spans.before(at, span), spans.between(at, at + span)
                self.assertEqual(minutes(re.findall(r"\d+:\d\d", forth)[-1]), at + span, forth)
                self.assertEqual(minutes(re.findall(r"\d+:\d\d", back)[-1]), at - span, back)
                hours, rest = divmod(span, 60)
                self.assertRegex(far, rf"(?<!\d){rest} min")
                self.assertTrue(not hours or f"= {hours} hour" in far, far)
        for i in range(600):
            w = Words(random.Random(f"spans {i}"))
            told, thought, answer, check = spans.question_of(w)
            self.assertNotRegex(told + thought + answer, r"[{}|]")

    def test_hand_written_texts_and_talks_are_filled(self):
        """No slot, mark or sum is left open in any row, and every fact of a text stands in it."""
        for rows, one in ((letters.TEXTS, lambda w, row: "\n".join(t for q in [letters.Letter(w, row)] for t in [q.text, *(x for _ in list(q.left) for x in q.ask(w))])),
                          (heard.TALKS, lambda w, row: "\n".join(x for step in heard.Talk(w, row).steps() for x in step[:3])),
                          (pulled.ROWS, lambda w, row: "\n".join(pulled.Row(w, row).record(w)[:3] if len(row[2]) > 1 else pulled.Row(w, row).several(w)[:3])),
                          (errands.SCRIPTS, lambda w, row: json.dumps(errands.Errand(w, row).messages())),
                          (orders.ROWS, lambda w, row: "\n".join(orders.Order(w, row).first())),
                          (chatter.ROWS, lambda w, row: "\n".join(chatter.question_of(w)[:3]))):
            for i, row in enumerate(rows):
                for k in range(3):
                    with self.subTest(row=row, k=k):
                        self.assertNotRegex(one(Words(random.Random(f"{i} {k}")), row), r"\{\w*\d\W|\{=|\[\?\]|\w\|\w| => ")

    def test_ordinary_conversations_call_their_tools_and_end_with_an_answer(self):
        """As written, and with others in the place of names."""
        for i, (conversation, branch) in enumerate((c, b) for c in ordinary.CONVERSATIONS for b in c.branches):
            with self.subTest(kind=conversation.kind, first=branch[0]):
                messages = conversation.messages(Words(random.Random(i)), [branch])
                self.assertEqual((messages[0]["role"], messages[-1]["role"]), ("user", "assistant"))
                tools = {t.names[0]: t.parameters for t in conversation.tools}
                for before, message in zip(messages, messages[1:]):
                    self.assertNotEqual((before["role"], message["role"]), ("user", "user"))
                    for call in (c["function"] for c in message.get("tool_calls", ())):
                        parameters = tools[call["name"]]
                        self.assertLessEqual(call["arguments"].keys(), {name for name, _, _ in parameters})
                        self.assertLessEqual({name for name, must, _ in parameters if must}, call["arguments"].keys())
                        for name, _, kind in parameters:
                            if "|" in kind and name in call["arguments"]:
                                self.assertIn(call["arguments"][name], kind.split("|"))
                self.assertIn(conversation.text, messages[0]["content"])
        for i, conversation in enumerate(ordinary.CONVERSATIONS):
            messages = conversation.messages(Words(random.Random(1)), conversation.branches)
            changed = ordinary.deep(messages, ordinary.exchange(Words(random.Random(i)), conversation))
            self.assertEqual([m["role"] for m in changed], [m["role"] for m in messages])
            text = json.dumps(messages, ensure_ascii=False) + conversation.system
            for other in conversation.others:
                self.assertIn(json.dumps(other, ensure_ascii=False)[1:-1], text)

    def test_a_group_is_drawn_as_one_or_several_of_its_conversations(self):
        lines = ["# reading", "P Ines wanted green paint and took grey home.", "=", "U what did she want", "T Wanted: green.", "A Green.", "=", "U And what did she take?", "T Taken: grey.", "A Grey."]
        conversation, seen = ordinary.Conversation(lines), set()
        for i in range(100):
            w = Words(random.Random(i))
            messages = conversation.messages(w, conversation.drawn(w))
            answers = [m["content"] for m in messages if m["role"] == "assistant"]
            self.assertEqual([conversation.text in m["content"] for m in messages if m["role"] == "user"], [k == 0 for k in range(len(answers))])
            seen.add(tuple(answers))
        self.assertEqual(seen, {("Green.",), ("Grey.",), ("Green.", "Grey."), ("Grey.", "Green.")})

    def test_what_is_exchanged_is_so_everywhere(self):
        lines = ["# tool-results", "@ look(name! s) Looks somebody up", "U Is Rosa in? Rosa Lund, room 17.", "T name Rosa.",
                 'C look {"name": "Rosa"}', 'R {"name": "Rosa", "room": "17"}', "T Rosa is in.", "A Rosa is in 17.", "X Rosa, Lund, 17"]
        conversation = ordinary.Conversation(lines)
        for i in range(50):
            w = Words(random.Random(i))
            text = json.dumps(ordinary.deep(conversation.messages(w, conversation.branches), ordinary.exchange(w, conversation)))
            whole = text.count("Rosa") == 7 and text.count("17") == 3
            self.assertTrue(whole or not re.search(r"Rosa|Lund|\b17\b", text), text)

    def test_values_of_a_text_are_compared_rightly(self):
        for i in range(200):
            w = Words(random.Random(f"compared {i}"))
            values = letters.Filled(w)
            a, b = values.number("q1"), values.number("q2")
            for rule, answer in (("^most x:q1, y:q2", "x" if a > b else "y"), ("^least x:q1, y:q2", "x" if a < b else "y"), ("^more x:q1, y:q2", "Yes" if a > b else "No"), ("^less x:q1, y:q2", "Yes" if a < b else "No"), ("^gap x:q1, y:q2", str(abs(a - b)))):
                thought, said = letters.compared(values, rule)
                self.assertEqual(said, answer)
                self.assertIn(f"x {a}; y {b}.", thought)

    def test_orders_of_size_follow_from_what_is_told(self):
        for i in range(300):
            w = Words(random.Random(f"chain {i}"))
            question, thought, answer, _ = basics.chain(w)
            order = re.search(r": (.+?)\.", thought)[1].split(", ")
            self.assertTrue(answer in order or answer in ("Yes", "No"))
            self.assertTrue(all(name in question for name in order))

    def test_slips_leave_slots_alone(self):
        for i in range(400):
            w = Words(random.Random(i))
            self.assertIn("Il Forno 19:45", grammar.typed(w, "please book what is wanted at {x}, thank you very much", x="Il Forno 19:45"))


class Seeds(unittest.TestCase):
    def test_a_seed_is_a_dialogue_whatever_the_order_of_sets(self):
        program = ("import sys; sys.path.insert(0, sys.argv[1]); from demo_model import generate; "
                   "print([generate.dialogue(f'{kind} {i}', kind=kind) for kind in generate.SHARES if kind != 'tools' for i in range(600 if kind in ('ordering', 'heard') else 20)])")
        said = [subprocess.run([sys.executable, "-c", program, str(ROOT / "tools")], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True).stdout for seed in "12"]
        self.assertEqual(*said)


class Manual(unittest.TestCase):
    def named(self, text):
        """(command, flag) pairs of an answer; the refusals name what does not exist."""
        return [(c, re.findall(r"--[a-z][a-z0-9-]*", line)) for line in text.split("\n") for c in re.findall(r"(?<!A )tessera ([a-z]+)", line)]  # but for the tile of a mosaic

    def test_no_answer_names_what_does_not_exist(self):
        for i in range(3000):
            w = Words(random.Random(i))
            _, _, answer, _ = questions.question_of(w)
            if absent := re.match(r"No, (?:there is no command tessera (\S+?)\.|tessera (\w+) has no flag (--\w+))", answer):
                self.assertTrue(absent[1] not in questions.MANUAL if absent[1] else absent[3] not in questions.MANUAL[absent[2]]["flags"], answer)
                continue
            for command, flags in self.named(answer):
                self.assertIn(command, questions.MANUAL, answer)
                for flag in flags:
                    self.assertIn(flag, questions.MANUAL[command]["flags"], answer)

    @unittest.skipUnless(PROGRAM, "needs the program")
    def test_the_manual_is_what_the_program_says(self):
        self.assertEqual(manual.read(PROGRAM), json.loads(manual.FILE.read_text()), "run tools/demo_model/manual.py")


class Prompts(unittest.TestCase):
    def test_every_prompt_has_rules_and_tools_that_exist(self):
        prompts = judge.prompts()
        self.assertGreaterEqual(len(prompts), 400)
        known = {r for rules in re.findall(r"^  ([a-z_, ]+?)  ", judge.__doc__, re.M) for r in rules.split(", ")} | {"case_any", "may"}
        for d in prompts:
            self.assertTrue(d["check"])
            self.assertLessEqual(d["check"].keys(), known, d)
            self.assertIn(d["messages"][-1]["role"], ("user", "tool"))

    def test_prompts_are_not_in_the_training_text(self):
        found = overlap.shared(6000)
        # What anybody would ask alike (how many legs, the first letter) is allowed.
        self.assertLessEqual(len(found), 8, f"copied from the prompts, or they from a generator: {sorted(found)}")


class Judge(unittest.TestCase):
    def test_words_and_numbers(self):
        self.assertTrue(judge.right({"has": ["85"]}, said("47 + 38 = 85.")))
        self.assertFalse(judge.right({"has": ["85"]}, said("It is 850.")))
        self.assertFalse(judge.right({"has": ["85"]}, said("It is 8.85.")))
        self.assertTrue(judge.right({"has": ["2000"]}, said("That is 2,000 ml.")))
        self.assertFalse(judge.right({"any": ["positive"], "lacks": ["negative"]}, said("positive or negative")))
        self.assertTrue(judge.right({"is": ["Haldane Ltd"]}, said("\"Haldane Ltd.\"")))
        self.assertFalse(judge.right({"has": ["5"], "words": 3}, said("I think it is 5")))

    def test_an_answer_without_an_end_is_wrong(self):
        self.assertFalse(judge.right({"has": ["a"]}, said("a a a a", ended=False)))

    def test_calls(self):
        wanted = {"calls": [{"name": "t", "arguments": {"n": 5, "p": {"has": "oslo"}}, "may": {"day": ["today"]}}]}
        call = {"name": "t", "arguments": {"n": 5, "p": "Oslo city"}}
        self.assertTrue(judge.right(wanted, said("", [call])))
        self.assertTrue(judge.right(wanted, said("", [{**call, "arguments": {**call["arguments"], "day": "today"}}])))
        self.assertFalse(judge.right(wanted, said("", [{**call, "arguments": {**call["arguments"], "n": "5"}}])))
        self.assertFalse(judge.right(wanted, said("", [{**call, "arguments": {**call["arguments"], "x": 1}}])))
        self.assertFalse(judge.right(wanted, said("", [call, call])))
        self.assertFalse(judge.right({"asks": ["city"]}, said("Which city?", [call])))
        self.assertTrue(judge.right({"asks": ["city"]}, said("Which city?")))

    def test_not_knowing_and_not_said(self):
        self.assertTrue(judge.right({"unknown": True}, said("I do not know that.")))
        self.assertFalse(judge.right({"unknown": True}, said("It was signed in 1661.")))
        self.assertTrue(judge.right({"not_said": True}, said("The text does not say.")))
        self.assertFalse(judge.right({"not_said": True}, said("Five people.")))

    def test_json(self):
        self.assertTrue(judge.right({"json": {"a": 1}}, said("```json\n{\"a\": 1}\n```")))
        self.assertFalse(judge.right({"json": {"a": 1}}, said("{\"a\": \"1\"}")))
        self.assertFalse(judge.right({"json_has": ["x"]}, said("x")))


if __name__ == "__main__":
    unittest.main()
