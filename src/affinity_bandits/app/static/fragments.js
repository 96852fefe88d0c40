"use strict";

export const LOST = "The application does not answer. Is it still running?";

export function problem(words) {
  const box = document.createElement("p");
  box.className = "message";
  box.setAttribute("role", "alert");
  box.textContent = words;
  return box;
}

// Show beside each question what is wrong with its answer; return the first field that is wrong.
// What is only missing is shown after the form was sent.
export function mark(form, wrong, submitted) {
  let first = null;
  for (const place of document.querySelectorAll("[data-wrong]")) {
    const name = place.dataset.wrong, one = wrong[name];
    const shown = one !== undefined && (submitted || !one.missing);
    place.textContent = shown ? one.words : "";
    const field = form.elements[name];
    if (field instanceof Element) field.setAttribute("aria-invalid", shown);
    if (shown && place.closest("#more")) document.getElementById("more").open = true;
    if (shown) first ??= place.closest(".field").querySelector("input, select");
  }
  return first;
}

// Put the server's answer, a fragment of HTML, into an element; return whether all is well.
// An answer that was given up (options.signal) changes nothing.
// Mistakes that belong to fields, an object of JSON data, go to `refused` instead.
export async function load(url, target, options = {}, refused = () => {}) {
  target.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(url, options);
    const text = await response.text();
    if (response.headers.get("content-type")?.startsWith("application/json")) refused(JSON.parse(text));
    else target.innerHTML = text;
    target.removeAttribute("aria-busy");
    return response.ok;
  } catch (error) {
    if (error.name === "AbortError") return false;
    target.replaceChildren(problem(LOST));
    target.removeAttribute("aria-busy");
    return false;
  }
}
