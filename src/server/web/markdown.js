// A small Markdown: headings, paragraphs, lists, quotes, tables, fenced code, rules; bold, italic, struck, code,
// links. What a model writes only ever becomes text nodes, so there is no HTML to escape.
//
// An answer is rendered again with every piece that streams in. Blocks whose source did not change keep their
// elements: the work is that of the last block, and a selection in the text above survives.

import { copyButton, el } from "./dom.js";

const DEPTH_MAX = 6; // of lists and quotes within each other; noise nests without end
const SPAN_MAX = 2000; // characters of one bold or code span; bounds the search for its end

export function renderMarkdown(container, source) {
  const blocks = splitBlocks(source.split("\n"), 0);
  let same = 0;
  while (same < blocks.length && container.children[same]?.markdownSource === blocks[same].source) same += 1;
  while (container.children.length > same) container.lastChild.remove();
  for (const block of blocks.slice(same)) {
    const node = block.build();
    node.markdownSource = block.source;
    container.append(node);
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?: +|$)/;
const TABLE_RULE = /^(?=[^|]*\|)(?=[^-]*-)[\s|:-]+$/;
const startsTable = (lines, at) => lines[at].includes("|") && TABLE_RULE.test(lines[at + 1] ?? "");

/// Cuts lines into blocks: { source, build }. `source` with the kind in front tells blocks apart.
function splitBlocks(lines, depth) {
  const blocks = [];
  let at = 0;
  const take = (kind, end, build) => {
    const own = lines.slice(at, end);
    blocks.push({ source: `${kind}\n${own.join("\n")}`, build: () => build(own) });
    at = end;
  };
  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    if (line.trim() === "") {
      at += 1;
    } else if (fence) {
      const end = fenceEnd(lines, at, fence[1]);
      take("code", end, (own) => codeBlock(own, fence, end <= lines.length));
    } else if (heading) {
      take("heading", at + 1, () => el(`h${Math.min(6, heading[1].length + 2)}`, {}, ...inline(heading[2])));
    } else if (RULE.test(line)) {
      take("rule", at + 1, () => el("hr"));
    } else if (depth < DEPTH_MAX && ITEM.test(line)) {
      take("list", listEnd(lines, at), (own) => list(own, depth));
    } else if (depth < DEPTH_MAX && line.startsWith(">")) {
      take("quote", runEnd(lines, at, (text) => text.startsWith(">")), (own) => {
        const inner = splitBlocks(own.map((text) => text.replace(/^> ?/, "")), depth + 1);
        return el("blockquote", {}, ...inner.map((block) => block.build()));
      });
    } else if (startsTable(lines, at)) {
      take("table", runEnd(lines, at, (text) => text.includes("|")), table);
    } else {
      const end = runEnd(lines, at + 1, (text, next) => !startsBlock(text) && !startsTable(lines, next));
      take("paragraph", end, (own) => el("p", {}, ...inline(own.join("\n"))));
    }
  }
  return blocks;
}

const startsBlock = (line) =>
  line.trim() === "" || FENCE.test(line) || HEADING.test(line) || ITEM.test(line) || line.startsWith(">");

function runEnd(lines, at, belongs) {
  while (at < lines.length && belongs(lines[at], at)) at += 1;
  return at;
}

/// The line after the closing fence; one more than there are lines while it is still to come.
function fenceEnd(lines, at, fence) {
  for (let end = at + 1; end < lines.length; end += 1) {
    const text = lines[end].trim();
    if (text.startsWith(fence) && text.replaceAll(fence[0], "") === "") return end + 1;
  }
  return lines.length + 1;
}

function codeBlock(lines, fence, closed) {
  const text = lines.slice(1, closed ? -1 : undefined).join("\n");
  const language = fence[2].trim().split(/\s/)[0].slice(0, 30);
  return el("figure", { className: "code" },
    el("figcaption", {}, el("span", { textContent: language || "text" }), copyButton(() => text, "Copy this code")),
    el("pre", { tabIndex: 0 }, el("code", { textContent: text })));
}

/// A list goes on through indented lines, and through blank lines that an item or an indented line follows.
function listEnd(lines, at) {
  let end = at + 1;
  for (let next = end; next < lines.length; next += 1) {
    if (lines[next].trim() === "") continue;
    const belongs = ITEM.test(lines[next]) ? !RULE.test(lines[next]) : /^ {2,}/.test(lines[next]);
    const lazy = next === end && !startsBlock(lines[next]); // a line that merely goes on with the item's sentence
    if (!belongs && !lazy) break;
    end = next + 1;
  }
  return end;
}

function list(lines, depth) {
  const [, indent, marker] = ITEM.exec(lines[0]);
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item && item[1].length <= indent.length) items.push([line.slice(item[0].length)]);
    else items.at(-1).push(line);
  }
  const ordered = /\d/.test(marker);
  const node = el(ordered ? "ol" : "ul");
  if (ordered) node.start = parseInt(marker, 10);
  for (const item of items) {
    const rest = item.slice(1).filter((text) => text.trim() !== "");
    const margin = Math.min(...rest.map((text) => text.search(/\S/)));
    const inner = splitBlocks([item[0], ...item.slice(1).map((text) => text.slice(margin))], depth + 1);
    node.append(el("li", {}, ...inner.map((block) => block.build())));
  }
  return node;
}

function table(lines) {
  const cells = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((text) =>
    text.trim().replaceAll("\\|", "|"));
  const aligns = cells(lines[1]).map((rule) => (/^:.*:$/.test(rule) ? "center" : rule.endsWith(":") ? "end" : ""));
  const row = (line, tag) => {
    const texts = cells(line);
    return el("tr", {}, ...aligns.map((className, column) => el(tag, { className }, ...inline(texts[column] ?? ""))));
  };
  return el("div", { className: "wide", tabIndex: 0 }, el("table", {},
    el("thead", {}, row(lines[0], "th")), el("tbody", {}, ...lines.slice(2).map((line) => row(line, "td")))));
}

// In order: code, bold, struck, italic with stars, italic with underscores between words, link.
const SPAN = new RegExp([
  `(\`+)(?!\`)([^]{1,${SPAN_MAX}}?)(?<!\`)\\1(?!\`)`,
  `\\*\\*(?=\\S)([^]{1,${SPAN_MAX}}?)(?<=\\S)\\*\\*(?!\\*)`,
  `~~(?=\\S)([^]{1,${SPAN_MAX}}?)(?<=\\S)~~`,
  `\\*(?=[^\\s*])([^*\\n]{1,${SPAN_MAX}})(?<=\\S)\\*`,
  `(?<!\\w)_(?=[^\\s_])([^_\\n]{1,${SPAN_MAX}})(?<=\\S)_(?!\\w)`,
  `\\[([^\\]\\n]{1,${SPAN_MAX}})\\]\\((https?://[^\\s()]{1,${SPAN_MAX}})\\)`,
].join("|"), "g");

function inline(text, depth = 0) {
  if (depth > DEPTH_MAX) return [text];
  const nodes = [];
  let at = 0;
  for (const match of text.matchAll(SPAN)) {
    const [all, , code, bold, struck, star, underscore, label, address] = match;
    nodes.push(text.slice(at, match.index));
    at = match.index + all.length;
    if (code !== undefined) nodes.push(el("code", { textContent: code.replace(/^ (.*) $/, "$1") }));
    else if (bold !== undefined) nodes.push(el("strong", {}, ...inline(bold, depth + 1)));
    else if (struck !== undefined) nodes.push(el("s", {}, ...inline(struck, depth + 1)));
    else if (label !== undefined) {
      nodes.push(el("a", { href: address, title: address, target: "_blank", rel: "noopener noreferrer" }, label));
    } else nodes.push(el("em", {}, ...inline(star ?? underscore, depth + 1)));
  }
  nodes.push(text.slice(at));
  return nodes;
}
