"use strict";

export const LOST = "The application does not answer. Is it still running?";

export function problem(words) {
  const box = document.createElement("p");
  box.className = "message";
  box.setAttribute("role", "alert");
  box.textContent = words;
  return box;
}

// Put the server's answer, a fragment of HTML, into an element; return whether all is well.
// An answer that was given up (options.signal) changes nothing.
export async function load(url, target, options = {}) {
  target.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(url, options);
    target.innerHTML = await response.text();
    target.removeAttribute("aria-busy");
    return response.ok;
  } catch (error) {
    if (error.name === "AbortError") return false;
    target.replaceChildren(problem(LOST));
    target.removeAttribute("aria-busy");
    return false;
  }
}
