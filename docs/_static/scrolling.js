// What scrolls sideways can be reached with the keyboard, and only what does: a stop at every block
// of code would be in the way.
const SCROLLS = "pre, .table-wrapper, div.math, div.output.text_html";

function reachable() {
  for (const part of document.querySelectorAll(SCROLLS)) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    else part.removeAttribute("tabindex");
  }
}

addEventListener("load", reachable);
addEventListener("resize", reachable);
