"use strict";

// The page: ten choices of the visitor, the reveal, a method that goes on, remedies beside it. All of
// it is a state: a world, the visitor's choices, a remedy and a step, which the address holds, too.

const ROUNDS = 10;
const STEPS = ["play", "reveal", "run", "remedies"];
const REMEDIES = {
  turns: ["Equal turns", "Half in turns, then decide."],
  panels: ["Equal panels", "Judges: equal seats per group."],
  outsiders: ["Outsiders", "Judges: people of no compared group."],
  head: ["Head start", "Others catch up, then turns."],
  none: ["No bonus", "Nobody favors anybody. Same method."],
};
const FIRST = 10, FRAMES = 80, FRAME = 50;  // choices before the first moment; moments; milliseconds
const WINDOW = 20;  // a run is settled once, in every later twentieth of it,
const SETTLED = 0.8;  // this part of the choices goes to one group,
const LATEST = 0.8;  // and if that is before this part of the run
const MANY = 100;
const KEEP = 200;  // milliseconds
const APP = "http://127.0.0.1:8400";  // where `affinity app` answers

const original = "<!doctype html>\n" + document.documentElement.outerHTML;
const find = id => document.getElementById(id);
const {world: usual, limits: LIMITS, choices: HORIZONS} = JSON.parse(find("data").textContent);
const still = matchMedia("(prefers-reduced-motion: reduce)");
const count = number => number.toLocaleString("en");

let state = null, found = {}, moment = 0, timer = null;

// The state and the address

function readState(text) {
  const given = new URLSearchParams(text);
  const whole = (name, word, [low, high]) => {
    const number = /^\d{1,10}$/.test(word) ? +word : NaN;
    if (!(number >= low && number <= high))
      throw new RangeError(`${name} must be a whole number from ${low} to ${count(high)}, not ${word}`);
    return number;
  };
  const list = (name, key, limits, otherwise) =>
    given.has(key) ? given.get(key).split(",").map(one => whole(name, one, limits)) : otherwise;
  const world = {
    names: given.has("g") ? given.getAll("g") : usual.names,
    values: list("v", "v", LIMITS.values, usual.values),
    members: list("m", "m", LIMITS.members, usual.members),
    bonus: whole("b", given.get("b") ?? `${usual.bonus}`, LIMITS.bonus),
    choices: whole("n", given.get("n") ?? `${usual.choices}`, [HORIZONS[0], HORIZONS.at(-1)]),
    seed: whole("s", given.get("s") ?? `${usual.seed}`, LIMITS.seed),
  };
  const groups = whole("the number of groups", `${world.values.length}`, LIMITS.groups);
  if (world.names.length !== groups || world.members.length !== groups)
    throw new RangeError(`g, v and m must have one entry for each of the ${groups} groups`);
  for (const name of world.names)
    if (!name.trim() || name.length > LIMITS.name[1])
      throw new RangeError(`g must be a name of 1 to ${LIMITS.name[1]} characters, not ${name}`);
  if (!HORIZONS.includes(world.choices))
    throw new RangeError(`n must be one of ${HORIZONS.join(", ")}, not ${world.choices}`);
  const picks = [...given.get("p") ?? ""].map(one => whole("p", one, [0, groups - 1]));
  const remedy = given.get("r") ?? "";
  const step = given.get("t") ?? "play";
  if (picks.length > ROUNDS) throw new RangeError(`p must be at most ${ROUNDS} digits`);
  if (remedy && !Object.hasOwn(REMEDIES, remedy))
    throw new RangeError(`r must be one of ${Object.keys(REMEDIES).join(", ")}, not ${remedy}`);
  if (!STEPS.includes(step)) throw new RangeError(`t must be one of ${STEPS.join(", ")}, not ${step}`);
  return {...world, picks, remedy, step: picks.length < ROUNDS ? "play" : step};
}

function fragment() {
  const said = new URLSearchParams();
  for (const name of state.names) said.append("g", name);
  said.set("v", state.values.join(","));
  said.set("m", state.members.join(","));
  said.set("b", state.bonus);
  said.set("n", state.choices);
  said.set("s", state.seed);
  said.set("p", state.picks.join(""));
  if (state.remedy) said.set("r", state.remedy);
  said.set("t", state.step);
  return `#${said}`;
}

function link() {
  return location.href.split("#")[0] + fragment();
}

// A slider changes the state more often than browsers let a page change its address.
let keeping = 0;
function keepAddress() {
  clearTimeout(keeping);
  keeping = setTimeout(() => history.replaceState(null, "", fragment()), KEEP);
}

// What the state means

// The members after the first `rounds` choices of the visitor.
function membersAfter(rounds) {
  const members = [...state.members];
  for (const arm of state.picks.slice(0, rounds)) members[arm] += 1;
  return members;
}

function worldAfter(rounds) {
  return {
    values: state.values.map(one => one / 100),
    members: membersAfter(rounds),
    bonus: state.bonus / 100,
  };
}

function scoresIn(round) {
  return candidates(worldAfter(round), membersAfter(round), round, state.seed);
}

function bestGroups() {
  const best = Math.max(...state.values);
  return state.values.flatMap((value, arm) => value === best ? [arm] : []);
}

function named(arms) {
  return arms.map(arm => state.names[arm]).join(" and ");
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

// After which choice a run stays with one group, and with which; -1 if it does with none.
function settle(chosen, groups) {
  const length = Math.floor(chosen.length / WINDOW), counts = new Array(groups).fill(0);
  for (const arm of chosen.subarray(-length)) counts[arm] += 1;
  const group = counts.indexOf(Math.max(...counts));
  let own = counts[group], since = chosen.length;
  while (own >= SETTLED * length && since > length) {
    since -= 1;
    own += (chosen[since - length] === group) - (chosen[since] === group);
  }
  return since <= LATEST * chosen.length ? {group, since} : {group: -1, since: 0};
}

// What became of a run: its last group (-1: none yet), since when, in words, and the word at the mark.
function judge(run) {
  const groups = state.values.length, best = bestGroups();
  if (run.decided > 0) {
    const group = run.chosen.at(-1);
    const worse = best.includes(group) ? "" : ", wrongly";
    return {group, since: run.decided, said: `decided after ${count(run.decided)} choices${worse}`, mark: "decided"};
  }
  const {group, since} = settle(run.chosen, groups);
  if (group < 0) return {group, since: 0, said: "still comparing", mark: ""};
  const closed = !best.includes(group);
  const said = closed ? "locked in" : `with ${state.names[group]}`;
  return {group, since, said: `${said} since choice ${count(since)}`, mark: closed ? "here it closed" : ""};
}

function runOf(way) {
  found[way] ??= addShares(runWay(way, worldAfter(ROUNDS), state.choices, state.seed));
  return found[way];
}

function addShares(run) {
  const members = membersAfter(ROUNDS);
  const at = momentsUntil(run.chosen.length);
  run.shares = [];
  let made = 0;
  for (const n of at) {
    for (; made < n; made++) members[run.chosen[made]] += 1;
    const total = members.reduce((sum, one) => sum + one, 0);
    run.shares.push(members.map(one => one / total));
  }
  return {...run, at, ...judge(run), part: rightPart(run.shares.at(-1))};
}

function rightPart(shares) {
  return bestGroups().reduce((sum, arm) => sum + shares[arm], 0);
}

function momentsUntil(choices) {
  const all = Array.from({length: FRAMES}, (_, i) => Math.round(FIRST * (choices / FIRST) ** (i / (FRAMES - 1))));
  return all.filter((one, i) => one !== all[i - 1]);
}

// Drawing

function make(parent, tag, settings = {}, ...content) {
  const one = document.createElement(tag);
  for (const [key, value] of Object.entries(settings))
    if (key in one && key !== "list") one[key] = value;
    else one.setAttribute(key, value);
  one.append(...content);
  parent?.append(one);
  return one;
}

function button(parent, words, act, className = "") {
  return make(parent, "button", {type: "button", className, onclick: act}, words);
}

function say(words) {
  find("live").textContent = words;
}

function seatsOf(members) {
  const total = members.reduce((sum, one) => sum + one, 0);
  return `${total} seats: ${members.map((one, arm) => `${one} ${state.names[arm]}`).join(", ")}`;
}

function drawSeats(box, members, fresh = -1) {
  box.replaceChildren();
  box.setAttribute("aria-label", seatsOf(members));
  members.forEach((own, arm) => {
    for (let i = 0; i < own; i++)
      make(box, "span", {className: `arm-${arm}${arm === fresh && i === own - 1 ? " fresh" : ""}`});
  });
}

const percent = part => `${Math.round(100 * part)}%`;

// `explained` says what the axes are, `names` which color is whose; a chart beside another needs neither.
function drawChart(box, run, name, {explained = false, names = false}) {
  const wide = 1000, high = 100, last = run.at[run.at.length - 1];
  const along = n => Math.log(Math.max(n, FIRST) / FIRST) / Math.log(last / FIRST);
  const chart = make(box, "section", {className: "chart"});
  const words = make(chart, "p");
  make(words, "strong", {}, name);
  const status = make(words, "span");
  const plot = make(chart, "div", {className: "plot"});
  const area = make(plot, "div", {className: "area", role: "img"});
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  svg.setAttribute("preserveAspectRatio", "none");
  area.append(svg);
  const paths = state.names.map((_, arm) => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("class", `arm-${arm}`);
    svg.append(path);
    return path;
  });
  const mark = make(area, "div", {className: "mark", hidden: true});
  make(mark, "span", {}, run.mark);
  mark.style.left = `${100 * along(run.since)}%`;
  if (along(run.since) < 0.55) mark.classList.add("early");
  const labels = make(plot, "div", {className: "labels"});
  const texts = state.names.map((one, arm) => {
    const label = make(labels, "div");
    make(label, "span", {className: `name arm-${arm}`, title: one}, names ? one : "");
    return {label, part: make(label, "span")};
  });
  const ticks = make(plot, "div", {className: "ticks"});
  for (let n = FIRST; n < last / 5; n *= 10)
    make(ticks, "span", {}, count(n)).style.left = `${100 * along(n)}%`;
  make(ticks, "span", {className: "last"}, explained ? `${count(last)} choices` : count(last)).style.left = "100%";
  if (explained) make(plot, "div", {className: "ticks"}, "seats");

  return upTo => {
    const below = new Array(upTo + 1).fill(0), ends = [];
    paths.forEach((path, arm) => {
      const under = [], over = [];
      for (let i = 0; i <= upTo; i++) {
        const x = (wide * along(run.at[i])).toFixed(1);
        under.push(`${x},${(high * (1 - below[i])).toFixed(2)}`);
        below[i] += run.shares[i][arm];
        over.push(`${x},${(high * (1 - below[i])).toFixed(2)}`);
      }
      path.setAttribute("d", `M${under.concat(over.reverse()).join("L")}Z`);
      ends.push(1 - below[upTo] + run.shares[upTo][arm] / 2);
    });
    const made = run.at[upTo], done = upTo === run.at.length - 1;
    spread(ends).forEach((y, arm) => {
      texts[arm].label.style.top = `${100 * y}%`;
      texts[arm].part.textContent = percent(run.shares[upTo][arm]);
    });
    const known = run.mark === "decided" ? made >= run.since : done;
    mark.hidden = !(known && run.mark);
    status.textContent = ` ${known ? run.said : `${count(made)} choices`}`;
    area.setAttribute("aria-label", `${name}, after ${count(made)} choices: ` +
      state.names.map((one, arm) => `${one} ${percent(run.shares[upTo][arm])}`).join(", "));
  };
}

// Move labels apart, from the top, so that none covers another.
function spread(ends) {
  const room = 0.24, order = ends.map((_, i) => i).sort((a, b) => ends[a] - ends[b]);
  const places = [...ends];
  let least = room / 2;
  for (const i of order) {
    places[i] = Math.max(places[i], least);
    least = places[i] + room;
  }
  let most = 1 - room / 2;
  for (const i of order.reverse()) {
    places[i] = Math.min(places[i], most);
    most = places[i] - room;
  }
  return places;
}

// The steps

function show(focus = true) {
  stop();
  found = {};
  for (const id of ["picture", "actions", "remedies"]) find(id).replaceChildren();
  find("remedies").hidden = find("more").hidden = state.step !== "remedies";
  ({play: showPlay, reveal: showReveal, run: showRun, remedies: showRemedies})[state.step]();
  keepAddress();
  if (focus) find("title").focus({preventScroll: true});
}

function go(step) {
  state.step = step;
  show();
}

function tell(title, lead) {
  find("title").textContent = title;
  find("lead").textContent = lead;
}

function showPlay() {
  tell("You are the committee", "Choose one a round; your choice takes a seat. Members score people like themselves higher.");
  const seats = make(find("picture"), "div", {className: "seats", role: "img"});
  const box = make(find("picture"), "div", {className: "candidates"});
  const cards = state.names.map((name, arm) => {
    const card = make(box, "button", {type: "button", className: `candidate arm-${arm}`, onclick: () => pick(arm)});
    make(card, "span", {className: "name"}, name);
    const score = make(make(card, "span", {className: "score"}, "score "), "strong");
    make(card, "kbd", {"aria-hidden": "true"}, `${arm + 1}`);
    const bar = make(make(card, "span", {className: "bar"}), "span");
    return {card, score, bar};
  });
  const round = make(find("actions"), "span", {className: "quiet"});
  const draw = fresh => {
    const made = state.picks.length;
    drawSeats(seats, membersAfter(made), fresh);
    scoresIn(made).forEach((score, arm) => {
      cards[arm].score.textContent = Math.round(100 * score);
      cards[arm].bar.style.width = percent(score);
      cards[arm].card.setAttribute("aria-label", `${state.names[arm]}, score ${Math.round(100 * score)}`);
    });
    round.textContent = `Round ${made + 1} of ${ROUNDS}`;
  };
  const pick = arm => {
    state.picks.push(arm);
    if (state.picks.length === ROUNDS) {
      go("reveal");
      return;
    }
    draw(arm);
    keepAddress();
    const told = scoresIn(state.picks.length).map((score, one) => `${state.names[one]} ${Math.round(100 * score)}`);
    say(`${state.names[arm]} chosen. Round ${state.picks.length + 1}: ${told.join(", ")}.`);
  };
  draw(-1);
}

function showReveal() {
  const counts = state.names.map((_, arm) => state.picks.filter(one => one === arm).length);
  const most = counts.indexOf(Math.max(...counts)), best = bestGroups();
  const chose = `You chose ${state.names[most]} ${counts[most]} of ${ROUNDS} times.`;
  const equal = best.length === state.names.length;
  const title = equal ? `${chose} All are worth the same.` : best.includes(most)
    ? `${chose} They are better.` : `${chose} ${capital(named(best))} are better.`;
  tell(title, equal || state.bonus === 0
    ? "Bars: the scores that you saw. Lines: what the groups are worth."
    : "Bars: the scores that you saw. Lines: the worth that nobody saw. With few seats, few score a group high.");
  const seats = make(find("picture"), "div", {className: "seats", role: "img"});
  drawSeats(seats, membersAfter(ROUNDS));
  const box = make(find("picture"), "div", {className: "worth"});
  const seen = state.names.map(() => 0);
  for (let round = 0; round < ROUNDS; round++) scoresIn(round).forEach((score, arm) => { seen[arm] += score / ROUNDS; });
  state.names.forEach((name, arm) => {
    make(box, "span", {className: `name arm-${arm}`}, name);
    const bar = make(box, "div", {className: `bar arm-${arm}`});
    make(bar, "span").style.width = percent(seen[arm]);
    make(bar, "i").style.left = `${state.values[arm]}%`;
    make(box, "span", {className: "number"}, `${Math.round(100 * seen[arm])} seen, ${state.values[arm]} true`);
  });
  button(find("actions"), `Go on for ${count(state.choices)} choices`, () => go("run")).id = "primary";
  say(`${title} ${state.names.map((name, arm) => `${name}: seen ${Math.round(100 * seen[arm])}, true ${state.values[arm]}`).join("; ")}.`);
}

// Whether most of the visitor's choices were of the best groups.
function choseWell() {
  const best = bestGroups();
  return state.picks.filter(arm => best.includes(arm)).length > ROUNDS / 2;
}

function foundBest(run) {
  return run.group >= 0 && bestGroups().includes(run.group);
}

// What a remedy gave the best groups beside what they had without it.
function besides(run, without) {
  const [given, had] = [run.part, without.part].map(percent);
  if (given === had) return ", as without it";
  return run.part > without.part ? `, not ${had}` : `; without it ${had}`;
}

function showRun() {
  const run = runOf("ordinary");
  tell("A method goes on from your seats", "UCB1 chooses whoever scored best so far, and now and then the others.");
  const draws = [drawChart(make(find("picture"), "div", {className: "charts"}), run, "UCB1", {explained: true, names: true})];
  const end = () => {
    const best = bestGroups(), equal = best.length === state.names.length;
    const closed = run.group >= 0 && !best.includes(run.group);
    const title = equal ? "All are worth the same. No choice is wrong."
      : closed ? `It closed. ${capital(named(best))}, though better, hold ${percent(run.part)} of the seats.`
      : run.group < 0 ? "It is still comparing." : `It found ${state.names[run.group]}.`;
    tell(title, equal || run.group < 0 ? find("lead").textContent
      : closed ? "Fewer seats mean lower scores, and lower scores mean fewer seats."
      : choseWell() ? "You gave them seats, so members like them scored them higher."
      : "This time so few seats were enough.");
    say(`${title} ${capital(run.said)}.`);
    find("actions").replaceChildren();
    button(find("actions"), foundBest(run) ? "Compare the remedies" : "Try a remedy", () => go("remedies")).id = "primary";
    button(find("actions"), "Play again", () => play(draws, run.at, end), "second");
  };
  play(draws, run.at, end);
}

function showRemedies() {
  const chosen = state.remedy;
  for (const [way, [words]] of Object.entries(REMEDIES)) {
    const one = button(find("remedies"), words, () => {
      state.remedy = way;
      show(false);
      find("remedies").querySelector("[aria-pressed=true]").focus({preventScroll: true});
    });
    one.setAttribute("aria-pressed", way === chosen);
  }
  const box = make(find("picture"), "div", {className: "charts"});
  const first = runOf("ordinary");
  const draws = [drawChart(box, first, "UCB1", {names: true})];
  if (chosen) {
    const run = runOf(chosen);
    draws.push(drawChart(box, run, REMEDIES[chosen][0], {}));
    const [name, how] = REMEDIES[chosen], best = bestGroups();
    const title = best.length === state.names.length ? `${name}: all are worth the same.`
      : `${name}: ${named(best)} get ${percent(run.part)}${besides(run, first)}.`;
    tell(title, how);
    say(`${title} ${how} ${capital(run.said)}.`);
  } else if (foundBest(first))
    tell("It needed no remedy this time.", "Same seats, same luck: what does each give?");
  else tell("What would have helped?", "Same seats, same luck. Try one.");
  const end = () => {
    find("actions").replaceChildren();
    button(find("actions"), "Play", () => play(draws, first.at, end), chosen ? "" : "second").id = "primary";
    button(find("actions"), "Restart", startAgain, "second");
  };
  for (const draw of draws) draw(first.at.length - 1);
  end();
  showWorld();
  showMany();
  showTake();
}

function startAgain() {
  Object.assign(state, {picks: [], remedy: ""});
  go("play");
}

// Playing

function stop() {
  clearInterval(timer);
  timer = null;
}

function play(draws, at, end) {
  stop();
  moment = 0;
  const last = at.length - 1;
  const draw = () => {
    for (const one of draws) one(moment);
    if (moment === last) {
      stop();
      end();
    }
  };
  const tick = () => {
    moment += 1;
    draw();
  };
  find("actions").replaceChildren();
  const control = button(find("actions"), "", () => {
    if (still.matches) {
      // To the next power of ten, or the end.
      const target = 10 ** (Math.floor(Math.log10(at[moment])) + 1);
      do moment += 1; while (moment < last && at[moment] < target);
      draw();
      if (moment < last) say(`${count(at[moment])} choices.`);
    } else if (timer === null) {
      timer = setInterval(tick, FRAME);
      control.textContent = "Pause";
    } else {
      stop();
      control.textContent = "Play";
    }
  });
  control.id = "primary";
  control.textContent = still.matches ? "Next" : "Pause";
  draw();
  if (!still.matches) timer = setInterval(tick, FRAME);
}

// What is folded: the world, many runs, what to take along

function unfolded(id) {
  const fold = find(id);
  fold.querySelector("div")?.remove();
  return make(fold, "div");
}

function slider(box, words, [low, high], value, unit, change, step = 1) {
  const label = make(box, "label", {}, words);
  const shown = make(label, "output", {}, value + unit);
  const input = make(label, "input", {type: "range", min: low, max: high, step, value});
  input.addEventListener("input", () => {
    shown.textContent = input.value + unit;
    change(+input.value);
    redraw();
  });
}

let waiting = 0;
function redraw() {
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(() => {
    const open = ["world", "many", "take"].find(id => find(id).open);
    const focus = document.activeElement, kept = open === "world" ? find("world").querySelector("div") : null;
    show(false);
    if (kept) {
      find("world").querySelector("div").replaceWith(kept);
      focus?.focus({preventScroll: true});
    }
  });
}

function showWorld() {
  const box = unfolded("world");
  const build = () => {
    box.replaceChildren();
    state.names.forEach((name, arm) => {
      const fields = make(box, "div", {className: "fields"});
      const label = make(fields, "label", {}, `Group ${arm + 1}`);
      make(label, "input", {type: "text", value: name, maxLength: LIMITS.name[1], autocomplete: "off"})
        .addEventListener("change", event => {
          state.names[arm] = event.target.value.trim() || name;
          event.target.value = state.names[arm];
          redraw();
        });
      slider(fields, "True value", LIMITS.values, state.values[arm], "", value => { state.values[arm] = value; });
      slider(fields, "Members at the start", LIMITS.members, state.members[arm], "", value => { state.members[arm] = value; });
    });
    const fields = make(box, "div", {className: "fields"});
    slider(fields, "Members give their own more by", LIMITS.bonus, state.bonus, "%", value => { state.bonus = value; }, 10);
    const select = make(make(fields, "label", {}, "Choices"), "select");
    for (const one of HORIZONS) make(select, "option", {value: one, selected: one === state.choices}, count(one));
    select.addEventListener("change", () => {
      state.choices = +select.value;
      redraw();
    });
    const row = make(box, "div", {className: "row"});
    button(row, "Another run", () => {
      state.seed = (state.seed + 1) % (LIMITS.seed[1] + 1);
      redraw();
    }, "second");
    const change = (words, able, act) => able && button(row, words, () => {
      act();
      build();
      redraw();
    }, "second");
    change("Add a group", state.names.length < LIMITS.groups[1], () => {
      state.names = [...state.names, `group ${state.names.length + 1}`];
      state.values = [...state.values, 50];
      state.members = [...state.members, 1];
    });
    change("Remove the last", state.names.length > LIMITS.groups[0], () => {
      for (const part of ["names", "values", "members"]) state[part] = state[part].slice(0, -1);
      if (state.picks.some(arm => arm >= state.names.length)) startAgain();
    });
  };
  build();
}

function showMany() {
  const box = unfolded("many"), fold = find("many");
  let begun = false;
  const begin = () => {
    if (begun || !fold.open) return;
    begun = true;
    const ways = state.remedy ? ["ordinary", state.remedy] : ["ordinary"];
    const rows = ways.map(way => {
      const words = make(box, "p", {className: "quiet"}, "");
      return {way, words, dots: make(box, "div", {className: "runs", "aria-hidden": "true"}), results: []};
    });
    const best = bestGroups();
    const next = () => {
      if (!box.isConnected) return;
      for (const row of rows) {
        const run = runWay(row.way, worldAfter(ROUNDS), state.choices, state.seed, row.results.length);
        const group = judge(run).group;
        row.results.push(group);
        make(row.dots, "span", {className: group < 0 ? "open" : `arm-${group}${best.includes(group) ? "" : " worst"}`});
        const parts = [...state.names.keys(), -1]
          .map(arm => [arm, row.results.filter(one => one === arm).length])
          .filter(([, number]) => number > 0)
          .map(([arm, number]) => `${number} ${arm < 0 ? "still comparing" : `end with ${state.names[arm]}`}`);
        row.words.textContent = `${row.way === "ordinary" ? "UCB1" : REMEDIES[row.way][0]}: ${parts.join(", ")}.`;
      }
      if (rows[0].results.length < MANY) setTimeout(next);
      else say(rows.map(row => row.words.textContent).join(" "));
    };
    next();
  };
  fold.ontoggle = begin;
  begin();
}

function showTake() {
  const box = unfolded("take");
  const row = make(box, "div", {className: "row"});
  const field = make(box, "input", {type: "text", id: "link", readOnly: true, hidden: true, "aria-label": "To copy"});
  const copy = text => async () => {
    field.hidden = false;
    field.value = text();
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      say("Copied.");
    } catch {
      say("Press Ctrl+C to copy.");
    }
  };
  button(row, "Copy link", copy(link), "second");
  button(row, "Copy embed", copy(() =>
    `<iframe src="${link().replaceAll("&", "&amp;")}" title="You are the committee" width="100%" height="660"></iframe>`), "second");
  button(row, "Save as one HTML file", save, "second");
  const gap = Math.max(...state.values) - Math.min(...state.values);
  const asked = new URLSearchParams({
    groups: state.names.map(name => name.replaceAll(",", " ")).join(", "),
    scale: "0..100",
    ...gap > 0 && {difference: gap},
    budget: state.choices,
    bonus: `${state.bonus}%`,
    committee: membersAfter(ROUNDS).join(","),
  });
  const app = location.pathname === "/see/play" ? "" : APP;
  make(row, "a", {href: `${app}/plan?${asked}`, target: "_blank", rel: "noopener"}, "Plan this");
  if (app) {
    const words = make(box, "p", {className: "quiet"}, "“Plan this” opens in the application; start it with ");
    make(words, "code", {}, "affinity app");
  }
}

function save() {
  const page = new DOMParser().parseFromString(original, "text/html");
  for (const one of page.querySelectorAll(".skip, .top, link")) one.remove();  // they lead into the application
  const {names, values, members, bonus, choices, seed} = state;
  // No name may end the script that it stands in.
  page.getElementById("data").textContent =
    JSON.stringify({world: {names, values, members, bonus, choices, seed}, limits: LIMITS, choices: HORIZONS})
      .replaceAll("<", "\\u003c");
  const text = "<!doctype html>\n" + page.documentElement.outerHTML;
  const address = URL.createObjectURL(new Blob([text], {type: "text/html"}));
  make(null, "a", {href: address, download: "committee.html"}).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
  say("Saved.");
}

// Keys and the beginning

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const card = state.step === "play" && document.querySelectorAll(".candidate")[event.key - 1];
  if (card) card.click();
  else if (event.key === " " && !event.target.closest("button, a, summary") && find("primary")) {
    event.preventDefault();
    find("primary").click();
  }
});

function begin(focus) {
  const notice = find("notice");
  notice.hidden = true;
  try {
    state = readState(location.hash.slice(1));
  } catch (error) {
    notice.textContent = `This link cannot be read: ${error.message}. The usual world is shown.`;
    notice.hidden = false;
    state = readState("");
  }
  for (const part of ["names", "values", "members"]) state[part] = [...state[part]];
  show(focus);
}

addEventListener("hashchange", () => begin(true));
begin(false);
