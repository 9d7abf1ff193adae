// Markdown to elements: marked reads it, DOMPurify lets through what text needs, Prism colours code, KaTeX sets
// formulas (docs/dependencies.md). They are scripts of their own and leave their names in the window.
//
// An answer is rendered again with every piece that streams in. Blocks whose source did not change keep their elements:
// the work is that of the last block, and a selection in the text above survives.

import { copyButton, el } from "./dom.js";

const { DOMPurify, Prism, katex, marked } = window;
window.shadowNode ??= {}; // in every call Debian 12's DOMPurify (2.4.1, deb12u1) reads a global of this name by mistake
const COLOURED_MAX = 50_000; // characters of a block of code; a longer one stays plain
const TAGS = ["a", "abbr", "b", "blockquote", "br", "code", "del", "details", "dd", "div", "dl", "dt", "em", "h1", "h2",
  "h3", "h4", "h5", "h6", "hr", "i", "input", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "s", "samp", "small",
  "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul", "var",
  "wbr"];
const PLAIN = ["align", "checked", "colspan", "data-language", "data-math", "disabled", "open", "rowspan", "start",
  "type"];
// No style, class, id or name: what a model writes looks like text and is found by nothing.
const POLICY = { ALLOWED_TAGS: TAGS, ALLOWED_ATTR: [...PLAIN, "href", "title"], ADD_URI_SAFE_ATTR: PLAIN,
  ALLOW_DATA_ATTR: false, ALLOW_ARIA_ATTR: false, ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  RETURN_DOM_FRAGMENT: true };

const escaped = (text) => text.replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/// \( \), \[ \] and $$ $$; single dollars as in pandoc, so that "$5 and $10" stays money.
function math(name, level, rule, display) {
  return {
    name, level,
    start(source) { // where a paragraph, or the text of one, may end for a formula
      const at = source.search(level === "block" ? /\n {0,3}(?:\$\$|\\\[)/ : /\$|\\[[(]/);
      return at < 0 ? undefined : at;
    },
    tokenizer(source) {
      const [raw, ...groups] = rule.exec(source) ?? [];
      return raw && { type: name, raw, text: groups.find((group) => group !== undefined) };
    },
    renderer: ({ text }) => `<${level === "block" ? "div" : "span"} data-math="${display}">${escaped(text)}</${
      level === "block" ? "div" : "span"}>`,
  };
}

/// A tag that is none of text's is something the model wrote about, like vector<int>, and stays text. Style and
/// handlers would go anyway; as other names the browser's policy has nothing to report when DOMPurify looks at them.
const readHtml = (html) => html.replace(/<(\/?)([a-z][\w-]*)([^<>]*)/gi, (tag, slash, name, rest) => {
  if (!TAGS.includes(name.toLowerCase())) return `&lt;${slash}${name}${rest}`;
  return `<${slash}${name}${rest.replace(/(^|[\s"'/])(style|on\w+)(?=\s*=)/gi, "$1data-$2")}`;
});

marked.use({
  gfm: true, breaks: true, mangle: false, headerIds: false,
  extensions: [
    math("mathBlock", "block", /^ {0,3}(?:\$\$([^]+?)\$\$|\\\[([^]+?)\\\])[ \t]*(?:\n|$)/, "display"),
    math("mathDisplay", "inline", /^(?:\$\$([^]+?)\$\$|\\\[([^]+?)\\\])/, "display"),
    math("mathInline", "inline", /^(?:\\\(([^]+?)\\\)|\$(?![\s$])((?:\\[^]|[^\\$\n])*?[^\s\\$])\$(?!\d))/, "inline"),
  ],
  renderer: {
    heading: (text, level) => `<h${Math.min(6, level + 2)}>${text}</h${Math.min(6, level + 2)}>`,
    code(code, info) {
      const language = (info ?? "").split(/\s/)[0].slice(0, 30);
      return `<pre data-language="${escaped(language)}"><code>${escaped(code)}</code></pre>`;
    },
    // Nothing is fetched from elsewhere: a picture is a link to it.
    image: (address, title, text) => `<a href="${escaped(address ?? "")}">${text || escaped(address ?? "")}</a>`,
    html: readHtml,
  },
});

export function renderMarkdown(container, source) {
  if (container.markdownSource === source) return;
  container.markdownSource = source;
  const blocks = split(source);
  let same = 0;
  while (same < blocks.length && container.children[same]?.markdownSource === blocks[same].key) same += 1;
  while (container.children.length > same) container.lastChild.remove();
  for (const { key, token } of blocks.slice(same)) {
    const node = el("div", { className: "block" }, build(token));
    node.markdownSource = key;
    container.append(node);
  }
}

function split(source) {
  let tokens;
  try {
    tokens = marked.lexer(source);
  } catch {
    return [{ key: source, token: { type: "plain", raw: source } }]; // noise that nests deeper than the stack
  }
  const links = Object.keys(tokens.links).join("\n"); // a definition changes the blocks before it
  return tokens.filter(({ type }) => type !== "space" && type !== "def")
    .map((token) => ({ key: `${token.type}\n${links}\n${token.raw}`, token }));
}

function build(token) {
  let html;
  try {
    html = token.type === "plain" ? `<p>${escaped(token.raw)}</p>` : marked.parser([token]);
  } catch {
    html = `<p>${escaped(token.raw)}</p>`;
  }
  const content = DOMPurify.sanitize(html, POLICY);
  for (const pre of content.querySelectorAll("pre")) pre.replaceWith(codeBlock(pre.textContent, pre.dataset.language));
  for (const node of content.querySelectorAll("[data-math]")) setFormula(node);
  for (const table of content.querySelectorAll("table")) {
    const wide = el("div", { className: "wide", tabIndex: 0 });
    table.replaceWith(wide);
    wide.append(table);
  }
  for (const link of content.querySelectorAll("a[href]")) {
    Object.assign(link, { target: "_blank", rel: "noopener noreferrer" });
  }
  for (const box of content.querySelectorAll("input")) {
    if (box.type === "checkbox") Object.assign(box, { disabled: true, ariaLabel: box.checked ? "done" : "to do" });
    else box.remove();
  }
  return content;
}

/// What KaTeX cannot set stays as it was written.
function setFormula(node) {
  const source = node.textContent;
  const displayMode = node.dataset.math === "display";
  const limits = { trust: false, maxSize: 40, maxExpand: 500 };
  try {
    katex.render(source, node, { displayMode, throwOnError: true, strict: "ignore", ...limits });
  } catch (error) {
    node.replaceChildren(el("code", { textContent: source, title: error.message }));
  }
}

export function codeBlock(text, language) {
  const shown = text.replace(/\n$/, "");
  return el("figure", { className: "code" },
    el("figcaption", {}, el("span", { textContent: language || "text" }), copyButton(() => shown, "Copy this code")),
    el("pre", { tabIndex: 0 }, el("code", {}, ...coloured(shown, language?.toLowerCase()))));
}

/// As Prism.highlight does it, but to elements.
function coloured(code, language) {
  const grammar = Object.hasOwn(Prism.languages, language ?? "") ? Prism.languages[language] : null;
  if (!grammar || typeof grammar !== "object" || code.length > COLOURED_MAX) return [code];
  const work = { code, grammar, language };
  Prism.hooks.run("before-tokenize", work);
  work.tokens = Prism.tokenize(work.code, work.grammar);
  Prism.hooks.run("after-tokenize", work);
  const node = (token) => {
    if (typeof token === "string") return token;
    const className = ["token", token.type, token.alias ?? []].flat().join(" ");
    return el("span", { className }, ...[token.content].flat().map(node));
  };
  return work.tokens.map(node);
}
