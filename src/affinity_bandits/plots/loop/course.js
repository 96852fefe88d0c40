"use strict";

// Draw courses into the elements methods and courses; moment, play and now choose the moment.
// Drawn again with other data, the chosen moment and the chosen method stay.
function drawCourses(data) {
  const last = data.choices.length - 1, first = data.choices[0], end = data.choices[last];
  const along = n => end === first ? 1 : Math.log(Math.max(n, first) / first) / Math.log(end / first);
  const most = 1.1 * Math.max(...data.means);
  const percent = part => `${(100 * part).toFixed(1)}%`;
  const rounded = part => part > 0 && part < 0.01 ? "<1%" : part < 1 && part > 0.99 ? ">99%"
    : `${Math.round(100 * part)}%`;
  const count = number => number.toLocaleString("en");
  const methods = document.getElementById("methods"), courses = document.getElementById("courses");

  function make(parent, tag, className = "", text = "") {
    const one = document.createElement(tag);
    one.className = className;
    one.textContent = text;
    parent.append(one);
    return one;
  }

  function colored(parent, tag, className, group, text = "") {
    const one = make(parent, tag, className, text);
    one.style.setProperty("--own", data.colors[group]);
    return one;
  }

  // A narrow screen shows one method at a time.
  function choose(number) {
    drawCourses.chosen = number;
    [...methods.children].forEach((one, i) => one.setAttribute("aria-pressed", i === number));
    [...courses.children].forEach((one, i) => one.classList.toggle("chosen", i === number));
  }

  function drawTicks(box) {
    const ticks = make(box, "div", "ticks");
    for (let n = 10; n < end / 20; n *= end < 10000 ? 10 : 100)
      if (n >= first) make(ticks, "span", "", n === 10 ? "10 choices" : count(n)).style.left = percent(along(n));
    make(ticks, "span", "last", count(end));
  }

  methods.replaceChildren();
  courses.replaceChildren();
  const drawn = data.courses.map((course, number) => {
    const choice = make(methods, "button", "", course.name);
    choice.type = "button";
    choice.onclick = () => choose(number);
    const box = make(courses, "section");
    make(box, "h2", "", course.name);
    const status = make(box, "p", "status");
    make(box, "p", "below", "Seats");
    const area = make(box, "div", "area");
    area.setAttribute("role", "img");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 1000 100");
    svg.setAttribute("preserveAspectRatio", "none");
    area.append(svg);
    const paths = data.groups.map((_, group) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      path.style.setProperty("--own", data.colors[group]);
      svg.append(path);
      return path;
    });
    const mark = make(area, "div", "mark");
    mark.style.left = percent(along(course.since));
    const labels = data.groups.map((name, group) => {
      const label = make(area, "div", "label");
      colored(label, "span", "of", group, name).title = name;
      return {label, part: make(label, "span", "part")};
    });
    drawTicks(box);
    const bars = data.groups.map((name, group) => {
      const bar = colored(box, "div", "bar", group);
      bar.setAttribute("role", "img");
      const seen = make(bar, "span"), words = make(bar, "em", "", "no longer chosen");
      make(bar, "i").style.left = percent(data.means[group] / most);
      return {bar, seen, words, name};
    });
    return {course, status, area, paths, mark, labels, bars};
  });
  for (const section of courses.children) make(section, "p", "below", "Scores lately; line: true value");
  choose(Math.min(drawCourses.chosen ?? 0, data.courses.length - 1));

  // Move labels apart, from the top, so that none covers another.
  function spread(middles) {
    const room = 0.2, order = middles.map((_, i) => i).sort((a, b) => middles[a] - middles[b]);
    const places = [...middles];
    let least = room / 2;
    for (const i of order) {
      places[i] = Math.max(places[i], least);
      least = places[i] + room;
    }
    let highest = 1 - room / 2;
    for (const i of order.reverse()) {
      places[i] = Math.min(places[i], highest);
      highest = places[i] - room;
    }
    return places;
  }

  function show(place) {
    const made = data.choices[place];
    for (const {course, status, area, paths, mark, labels, bars} of drawn) {
      const shares = course.shares[place], below = new Array(place + 1).fill(0), middles = [];
      paths.forEach((path, group) => {
        const under = [], over = [];
        for (let i = 0; i <= place; i++) {
          const x = (1000 * along(data.choices[i])).toFixed(1);
          under.push(`${x},${(100 * (1 - below[i])).toFixed(2)}`);
          below[i] += course.shares[i][group];
          over.push(`${x},${(100 * (1 - below[i])).toFixed(2)}`);
        }
        path.setAttribute("d", `M${under.concat(over.reverse()).join("L")}Z`);
        middles.push(1 - below[place] + shares[group] / 2);
      });
      spread(middles).forEach((y, group) => {
        labels[group].label.style.top = percent(y);
        labels[group].part.textContent = ` ${rounded(shares[group])}`;
      });
      const known = course.decided ? made >= course.since : place === last;
      mark.hidden = !(known && course.since);
      status.textContent = known ? course.status : "still comparing";
      const seats = data.groups.map((name, group) => `${name} ${rounded(shares[group])}`);
      area.setAttribute("aria-label", `${course.name}: seats after ${count(made)} choices: ${seats.join(", ")}`);
      bars.forEach(({bar, seen, words, name}, group) => {
        const score = course.scores[place][group], means = data.means[group].toFixed(2);
        seen.style.width = percent(Math.min((score ?? 0) / most, 1));  // ten scores may reach far
        words.hidden = score !== null;
        bar.setAttribute("aria-label", `${name}: ` +
          (score === null ? "no longer chosen" : `scores ${score.toFixed(2)}`) + `, true value ${means}`);
      });
    }
    document.getElementById("now").textContent = `${count(made)} choices`;
  }

  const slider = document.getElementById("moment"), play = document.getElementById("play");
  function stop() { clearInterval(drawCourses.timer); drawCourses.timer = null; play.textContent = "Play"; }
  const atEnd = slider.max === "" || slider.value === slider.max;
  slider.max = last;
  slider.oninput = () => { stop(); show(+slider.value); };
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  play.onclick = () => {
    if (drawCourses.timer !== null) { stop(); return; }
    if (+slider.value === last) slider.value = 0;
    if (still.matches) {
      // To the next power of ten, or the end.
      const target = 10 ** (Math.floor(Math.log10(data.choices[+slider.value])) + 1);
      do slider.value = +slider.value + 1; while (+slider.value < last && data.choices[+slider.value] < target);
      show(+slider.value);
      return;
    }
    play.textContent = "Pause";
    drawCourses.timer = setInterval(() => {
      slider.value = +slider.value + 1;
      show(+slider.value);
      if (+slider.value === last) stop();
    }, 80);
  };
  stop();
  if (atEnd) slider.value = last;
  show(+slider.value);
}
