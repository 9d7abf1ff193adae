// The few things that the page needs of a framework.

/// An element with properties (or, for names that are not properties, attributes) and children.
export function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

export const $ = (id) => document.getElementById(id);

async function copyText(text) {
  // The clipboard API is there only over https or on localhost; a server in the next room has neither.
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const area = el("textarea", { value: text, className: "sr-only" });
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/// `text` is a function, so that what is copied is what is there at the click.
export function copyButton(text, title = "Copy") {
  const button = el("button", { type: "button", className: "quiet", textContent: "Copy", title });
  button.addEventListener("click", async () => {
    try {
      await copyText(text());
      button.textContent = "Copied";
    } catch {
      button.textContent = "No access";
    }
    setTimeout(() => (button.textContent = "Copy"), 1200);
  });
  return button;
}

export function actionButton(label, onClick, className = "quiet") {
  const button = el("button", { type: "button", className, textContent: label });
  button.addEventListener("click", onClick);
  return button;
}

/// A button that shows one of the symbols of index.html; its name is for those who do not see it.
export function iconButton(symbol, label, onClick) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#icon-${symbol}`);
  svg.append(use);
  svg.setAttribute("aria-hidden", "true");
  const button = actionButton("", onClick, "icon");
  button.append(svg);
  button.title = label;
  button.ariaLabel = label;
  return button;
}
