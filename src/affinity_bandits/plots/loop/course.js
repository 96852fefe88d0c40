"use strict";

// Draw courses into the elements key and courses; moment, play and now choose the moment.
// Drawn again with other data, the chosen moment stays.
function drawCourses(data) {
  const last = data.choices.length - 1;
  const wide = 300, high = 150, row = 26;
  const along = n => wide * Math.log(n / data.choices[0]) / Math.log(data.choices[last] / data.choices[0]);
  const most = 1.1 * Math.max(...data.means);
  const part = x => (100 * x).toFixed(0) + "%";

  function make(parent, name, attributes, text) {
    const one = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    if (text !== undefined) one.textContent = text;
    parent.appendChild(one);
    return one;
  }

  const key = document.getElementById("key"), courses = document.getElementById("courses");
  key.replaceChildren();
  courses.replaceChildren();
  data.groups.forEach((name, group) => {
    const box = document.createElement("span");
    box.style.background = data.colors[group];
    key.append(box, name);
  });

  const drawn = data.courses.map(course => {
    const box = document.createElement("section");
    const title = document.createElement("h2");
    title.textContent = course.name;
    const words = document.createElement("p");
    box.append(title, words);
    const lines = data.groups.length;
    const svg = make(box, "svg", {viewBox: `0 0 ${wide} ${high + 18 + row * lines}`, role: "img"});
    make(svg, "rect", {x: 0, y: 0, width: wide, height: high, class: "empty"});
    const areas = data.groups.map((_, group) => make(svg, "path", {fill: data.colors[group]}));
    const bars = data.groups.map((name, group) => {
      const y = high + 16 + row * group;
      const bar = make(svg, "rect", {x: 0, y: y, height: row - 9, fill: data.colors[group]});
      const none = make(svg, "text", {x: 2, y: y + 13, "font-size": 11, class: "unchosen"}, "not chosen of late");
      const x = wide * data.means[group] / most;
      make(svg, "line", {x1: x, x2: x, y1: y - 3, y2: y + row - 6, class: "true"});
      return {bar, none};
    });
    courses.appendChild(box);
    return {course, words, svg, areas, bars};
  });

  // `right` counts the choices of all groups that are worth most, so the caption names them all.
  function caption(course, place) {
    const shares = course.shares[place];
    if (data.best.length === data.groups.length) {
      const most = shares.indexOf(Math.max(...shares));
      return `all groups are worth the same; ${data.groups[most]} are ${part(shares[most])} of the committee`;
    }
    const seats = data.best.reduce((sum, group) => sum + shares[group], 0);
    return `${data.best.map(group => data.groups[group]).join(" and ")} chosen in ` +
      `${part(course.right[place])} of all choices, ${part(seats)} of the committee`;
  }

  function show(place) {
    for (const {course, words, svg, areas, bars} of drawn) {
      const said = caption(course, place);
      words.textContent = said;
      svg.setAttribute("aria-label", `${course.name}: ${said}`);
      const below = new Array(place + 1).fill(0);
      data.groups.forEach((_, group) => {
        const under = [], over = [];
        for (let i = 0; i <= place; i++) {
          const x = along(data.choices[i]).toFixed(1);
          under.push(`${x},${(high * (1 - below[i])).toFixed(1)}`);
          below[i] += course.shares[i][group];
          over.push(`${x},${(high * (1 - below[i])).toFixed(1)}`);
        }
        areas[group].setAttribute("d", "M" + under.concat(over.reverse()).join("L") + "Z");
        const score = course.scores[place][group];
        bars[group].bar.setAttribute("width", score === null ? 0 : Math.max(wide * score / most, 1.5));
        bars[group].none.setAttribute("visibility", score === null ? "visible" : "hidden");
      });
    }
    document.getElementById("now").textContent = data.choices[place].toLocaleString("en") + " choices";
  }

  const slider = document.getElementById("moment"), play = document.getElementById("play");
  function stop() { clearInterval(drawCourses.timer); drawCourses.timer = null; play.textContent = "Play"; }
  const atEnd = slider.max === "" || slider.value === slider.max;
  slider.max = last;
  slider.oninput = () => { stop(); show(+slider.value); };
  play.onclick = () => {
    if (drawCourses.timer !== null) { stop(); return; }
    if (+slider.value === last) slider.value = 0;
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
