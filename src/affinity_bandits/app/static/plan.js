"use strict";
import { LOST, problem } from "./fragments.js";

const form = document.getElementById("situation");
const understood = document.getElementById("understood");
const running = document.getElementById("running");
const answer = document.getElementById("answer");
const HINT = understood.textContent;
const SOON = 200; // milliseconds after the last key
let timer = null, checking = null, planning = null, submitted = false;

function query() {
  const said = new URLSearchParams();
  for (const [name, text] of new FormData(form)) if (text.trim()) said.append(name, text.trim());
  return said;
}

// Show what is asked and what is wrong; what is missing only after the form was sent.
function mark(found) {
  for (const field of form.querySelectorAll("[data-field]")) {
    const name = field.dataset.field;
    field.hidden = !(name in found.asked);
    form.elements[name].disabled = field.hidden;
    if (!field.hidden) field.querySelector("label").textContent = found.asked[name];
  }
  for (const place of form.querySelectorAll("[data-wrong]")) {
    const name = place.dataset.wrong, wrong = found.wrong[name];
    const shown = wrong !== undefined && (submitted || !wrong.missing);
    place.textContent = shown ? wrong.words : "";
    if (form.elements[name] instanceof Element) form.elements[name].setAttribute("aria-invalid", shown);
    if (shown && place.closest("#more")) document.getElementById("more").open = true;
  }
  understood.textContent = found.understood || HINT;
}

async function check() {
  checking?.abort();
  checking = new AbortController();
  try {
    const response = await fetch(`/plan/check?${query()}`, {signal: checking.signal});
    if (!response.ok) return null;
    const found = await response.json();
    mark(found);
    return found;
  } catch (error) {
    if (error.name !== "AbortError") understood.textContent = LOST;
    return null;
  }
}

function stop() {
  planning?.abort();
  running.hidden = true;
}

// Read lines as they come; the last one is the answer.
async function* lines(response) {
  let rest = "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const whole = (rest + part.value).split("\n");
    rest = whole.pop();
    for (const line of whole) yield JSON.parse(line);
  }
}

async function plan() {
  clearTimeout(timer);
  checking?.abort();
  stop();
  submitted = true;
  const mine = planning = new AbortController(), asked = query();
  try {
    const response = await fetch(`/plan/answer?${asked}`, {signal: mine.signal});
    if (response.status === 422) {
      mark(await response.json());
      const place = [...form.querySelectorAll("[data-wrong]")].find(one => one.textContent);
      place?.closest(".field").querySelector("input, select").focus();
      return;
    }
    history.replaceState(null, "", `/plan?${asked}`);
    answer.classList.add("outdated");
    running.hidden = false;
    running.scrollIntoView({block: "nearest"});
    for await (const line of lines(response)) {
      if (line.html === undefined) {
        document.getElementById("words").textContent = line.words;
        document.getElementById("progress").value = line.part;
      } else {
        answer.innerHTML = line.html;
        answer.classList.remove("outdated");
        document.getElementById("verdict")?.focus();
      }
    }
  } catch (error) {
    if (error.name === "AbortError") return;
    answer.replaceChildren(problem(LOST));
  }
  running.hidden = true;
}

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(check, SOON);
  answer.classList.add("outdated");
});
form.addEventListener("submit", event => { event.preventDefault(); plan(); });
document.getElementById("stop").addEventListener("click", stop);

function step(box) {
  return box.querySelectorAll(".step")[+box.querySelector("input").value];
}

answer.addEventListener("input", event => {
  const box = event.target.closest(".what-if"), chosen = step(box);
  for (const one of box.querySelectorAll(".step")) one.hidden = one !== chosen;
  event.target.setAttribute("aria-valuetext", chosen.dataset.title);
});
answer.addEventListener("click", event => {
  const box = event.target.closest(".again")?.closest(".what-if");
  if (!box) return;
  form.elements[box.dataset.name].value = step(box).dataset.said;
  check();
  plan();
});

const found = await check();
if (found !== null && location.search !== "" && Object.keys(found.wrong).length === 0) plan();
