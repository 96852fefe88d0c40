"use strict";
import { LOST, mark as markWrong, problem } from "./fragments.js";

const form = document.getElementById("situation");
const understood = document.getElementById("understood");
const running = document.getElementById("running");
const answer = document.getElementById("answer");
const waiting = document.getElementById("waiting"); // beside the button, wherever it is
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
  understood.textContent = found.understood || HINT;
  document.getElementById("instead").hidden = !(form.protected.value === "yes" && "protected" in found.wrong);
  return markWrong(form, found.wrong, submitted);
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
  waiting.textContent = "";
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
  waiting.textContent = "Planning …";
  try {
    const response = await fetch(`/plan/answer?${asked}`, {signal: mine.signal});
    if (response.status === 422) {
      waiting.textContent = "";
      mark(await response.json())?.focus();
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
  waiting.textContent = "";
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
