"use strict";

// One run of a world, choice by choice, as affinity_bandits.simulation makes it. A score is drawn
// evenly around the group's true value and multiplied by the weight of the group's share of the
// judges, (1 + bonus x) / (1 + bonus).

const SPREAD = 0.5;  // scores reach half of the way from the true value to the nearer end of the scale
const SEATS = 12;  // of a panel
const EXPLORATION = 0.5;  // of UCB1: proven for scores in an interval of length 1/2
const FAILURE = 0.05;

// What can be done, by name: a policy, and who judges.
const WAYS = {
  ordinary: {policy: ucb1, judges: "committee"},
  turns: {policy: equalTurns, judges: "committee"},
  panels: {policy: betting, judges: "panel"},
  outsiders: {policy: betting, judges: "outsiders"},
  head: {policy: betting, judges: "committee"},
  none: {policy: ucb1, judges: "committee", unbiased: true},
};

function weightOf(bonus, share) {
  return (1 + bonus * share) / (1 + bonus);
}

function valueOf(mean, u) {
  return mean + (2 * u - 1) * SPREAD * Math.min(mean, 1 - mean);
}

// Run a way in a world of values, members (numbers of each group) and a bonus. Returns who was
// chosen, the scores, and after how many choices one group was left (0 if several are).
function runWay(name, world, choices, seed, replicate = 0) {
  const way = WAYS[name], arms = world.values.length;
  const bonus = way.unbiased ? 0 : world.bonus;
  const policy = way.policy(arms, choices, way.judges, world.members);
  const draw = uniforms(seed, "noise", replicate);
  const members = [...world.members];
  let total = members.reduce((sum, one) => sum + one, 0);
  let judges = null, seated = 1, decided = 0;
  const chosen = new Uint8Array(choices), scores = new Float64Array(choices);
  for (let t = 0; t < choices; t++) {
    if (way.judges !== "committee" && policy.opens()) {
      judges = way.judges === "panel" ? seatPanel(members, policy.fewest()) : new Array(arms).fill(0);
      seated = Math.max(1, judges.reduce((sum, one) => sum + one, 0));
      policy.meet(judges);
    }
    const arm = policy.select();
    const share = judges === null ? members[arm] / total : judges[arm] / seated;
    const score = weightOf(bonus, share) * valueOf(world.values[arm], draw(t));
    policy.update(arm, score);
    if (decided === 0 && policy.left() === 1) decided = t + 1;
    chosen[t] = arm;
    scores[t] = score;
    members[arm] += 1;
    total += 1;
  }
  return {chosen, scores, decided};
}

// As many seats for each group as possible, and for `fewest` no more than for any other.
function seatPanel(members, fewest) {
  const equal = Math.floor(SEATS / members.length);
  const judges = members.map(one => Math.min(one, equal));
  if (fewest >= 0) judges[fewest] = Math.min(...judges);
  return judges;
}

// The scores of one candidate of each group in round t of those that a visitor plays.
function candidates(world, members, t, seed) {
  const arms = members.length, total = members.reduce((sum, one) => sum + one, 0);
  const draw = uniforms(seed, "unchosen noise", 0);
  return members.map((own, arm) =>
    weightOf(world.bonus, own / total) * valueOf(world.values[arm], draw(t * arms + arm)));
}

// log 1, log 2, ..., rounded correctly, so that every browser has the same bits: Math.log may be off
// by the last one. log n = log (n - 1) + 2 artanh(1 / (2 n - 1)), in units of 2**-100.
const logs = [-Infinity, 0];
let lastLog = 0n;
function logOf(n) {
  while (logs.length <= n) {
    const odd = BigInt(2 * logs.length - 1), square = odd * odd;
    let power = (1n << 101n) / odd;
    for (let k = 1n; power > 0n; k += 2n) {
      lastLog += power / k;
      power /= square;
    }
    logs.push(Number(lastLog) / 2 ** 100);
  }
  return logs[n];
}

// The largest mean + sqrt(exploration log t / pulls), after each group once.
function ucb1(arms) {
  const pulls = new Array(arms).fill(0), sums = new Array(arms).fill(0);
  let made = 0;
  return {
    select() {
      if (made < arms) return made;
      const width = Math.sqrt(EXPLORATION * logOf(made + 1));
      let best = 0, highest = -Infinity;
      for (let arm = 0; arm < arms; arm++) {
        const index = sums[arm] / pulls[arm] + width * (1 / Math.sqrt(pulls[arm]));
        if (index > highest) [best, highest] = [arm, index];
      }
      return best;
    },
    update(arm, score) {
      made += 1;
      pulls[arm] += 1;
      sums[arm] += score;
    },
    left: () => arms,
  };
}

// Half of the choices in equal turns, then the group with the best mean.
function equalTurns(arms, choices) {
  const each = Math.max(1, Math.floor(choices / (2 * arms)));
  const sums = new Array(arms).fill(0);
  let made = 0, best = -1;
  return {
    select: () => best >= 0 ? best : made % arms,
    update(arm, score) {
      if (best >= 0) return;
      sums[arm] += score;
      made += 1;
      if (made === each * arms) {
        const means = sums.map(one => one / each);
        best = means.indexOf(Math.max(...means));
      }
    },
    left: () => best >= 0 ? 1 : arms,
  };
}

// Bets on the leading group: affinity_bandits.policies.betting, wealth and leading, step by step, for
// scores in [0, 1], a failure probability and no target.
const NODES = Array.from({length: 17}, (_, node) => node / 16);
const STAKES = 48;
const CASH = 0.02, RETURNED = 0.02;
const PRIOR_SCORES = 2, PRIOR_MEAN = 0.5, PRIOR_VARIANCE = 0.1;

function priorStakes() {
  const sizes = Array.from({length: STAKES}, (_, i) => 2 * (i % 2 ? Math.SQRT1_2 : 1) * 2 ** -(i >> 1));
  const density = sizes.map((size, i) =>
    0.03 * 2 ** (-i / 4) + Math.exp(-0.5 * (Math.log(size / 0.3) / 0.7) ** 2));
  const total = density.reduce((sum, one) => sum + one, 0);
  const prior = [CASH, ...density.map(one => (1 - CASH) * one / total)];
  return {stakes: [0, ...sizes], logPrior: prior.map(Math.log)};
}

function betting(arms, choices, judging, members) {
  const {stakes, logPrior} = priorStakes();
  const head = judging === "committee";
  const initial = head ? members : new Array(arms).fill(0);
  const widest = Math.max(...initial) - Math.min(...initial);
  const needed = -Math.log(FAILURE);
  const zeros = () => new Array(arms).fill(0);
  const pulls = zeros(), wealth = zeros().map(() => [...logPrior]);
  let sums = zeros(), squares = zeros(), judges = zeros();
  let active = zeros().map((_, arm) => arm), leader = -1, recent = 0;
  let passes = 0, doubled = 1, rounds = 0, movers = [], moves = 0;
  let planned = [], repetitions = 0, slot = 0, seen = [];

  const passesToCome = () => passes === 0
    ? Math.max(4, Math.floor(widest / 12)) : Math.max(1, Math.floor(passes / 40));
  const mean = arm => (sums[arm] + PRIOR_MEAN * PRIOR_SCORES) / (recent + PRIOR_SCORES);
  function variance(arm) {
    const found = recent > 0 ? squares[arm] - sums[arm] * sums[arm] / recent : 0;
    return (Math.max(found, 0) + PRIOR_VARIANCE * PRIOR_SCORES) / (recent + PRIOR_SCORES);
  }
  function logWorth(arm) {
    const highest = Math.max(...wealth[arm]);
    return highest + Math.log(wealth[arm].reduce((sum, one) => sum + Math.exp(one - highest), 0));
  }
  function returnToPrior(arm, part) {
    const worth = logWorth(arm);
    wealth[arm] = wealth[arm].map((own, place) => {
      const fresh = worth + logPrior[place];
      if (part === 1) return fresh;
      const a = fresh + Math.log(part), b = own + Math.log(1 - part), highest = Math.max(a, b);
      return highest + Math.log(Math.exp(a - highest) + Math.exp(b - highest));
    });
  }

  function betAgainst(position, lead, times) {
    const arm = active[position];
    const center = 0.5 * (mean(arm) + mean(leader));
    const largest = 0.9 / Math.max(center, 1 - center);
    const noise = Math.max(variance(arm), variance(leader));
    const least = Math.max(...wealth[arm]) - 100;
    for (let place = 1; place < stakes.length; place++) {
      if (stakes[place] * stakes[place] * noise * (passes + times) < 0.03) break;
      if (wealth[arm][place] < least) continue;
      const stake = Math.min(stakes[place], largest);
      let gain = 0;
      for (let node = 0; node < NODES.length; node++) {
        const up = seen[lead][node], down = seen[position][node], move = stake * (NODES[node] - center);
        let won = up > 0 ? up * Math.log1p(move) : 0;
        if (down > 0) won += down * Math.log1p(-move);
        gain += won;
      }
      wealth[arm][place] += gain;
    }
  }

  function takeIn(times) {
    const before = passes;
    passes += times;
    rounds += 1;
    const kept = before / passes;
    recent = kept * recent + times;
    active.forEach((arm, position) => {
      let total = 0, square = 0;
      for (let node = 0; node < NODES.length; node++) {
        const count = seen[position][node], score = NODES[node];
        total += count * score;
        square += count * score * score;
      }
      pulls[arm] += times;
      sums[arm] = kept * sums[arm] + total;
      squares[arm] = kept * squares[arm] + square;
    });
  }

  function dropBeaten() {
    const returns = passes >= 2 * doubled;
    if (returns) doubled = passes;
    active = active.filter(arm => {
      if (arm === leader) return true;
      if (logWorth(arm) >= needed) return false;
      if (returns) returnToPrior(arm, RETURNED);
      return true;
    });
  }

  const ahead = head ? 1 : 0;
  const lacking = (first, arm) => pulls[first] + initial[first] + ahead - pulls[arm] - initial[arm];

  function takesTheLead() {
    let best = active[0];
    for (const arm of active) if (sums[arm] > sums[best]) best = arm;
    if (best === leader) return false;
    if (leader >= 0) {
      let cost = 0;
      for (const arm of active) if (arm !== best) cost += Math.max(0, lacking(best, arm));
      let noise = variance(best) + variance(leader);
      noise *= recent * (1 + 3 * cost / (active.length * passes));
      const clearly = 0.25 * (1 + Math.sqrt(2 * Math.log(active.length)));
      if (sums[best] - sums[leader] <= clearly * Math.sqrt(noise)) return false;
    }
    leader = best;
    for (const arm of active) returnToPrior(arm, 1);
    return true;
  }

  // The others are chosen until each has more members than the leader, then the leader until it is
  // nearly even.
  function putInOrder() {
    let room = Infinity;
    movers = [];
    moves = Infinity;
    for (const arm of active) {
      if (arm === leader) continue;
      const lack = lacking(leader, arm);
      if (lack > 0) {
        movers.push(arm);
        moves = Math.min(moves, lack);
      }
      room = Math.min(room, -lack);
    }
    if (movers.length === 0 && room > 0) [movers, moves] = [[leader], room];
  }

  function absorb() {
    if (movers.length > 0) {
      for (const arm of movers) pulls[arm] += moves;
      putInOrder();
      return;
    }
    const led = leader >= 0, lead = active.indexOf(leader);
    if (led)
      active.forEach((arm, position) => {
        if (position !== lead && (judging !== "panel" || judges[leader] <= judges[arm]))
          betAgainst(position, lead, repetitions);
      });
    takeIn(repetitions);
    if (led) dropBeaten();
    if (active.length > 1 && (!led || rounds % 2 === 0) && takesTheLead() && head) putInOrder();
  }

  // A score between two nodes is split between them.
  function count(score, counts) {
    if (score >= 1) {
      counts[16] += 1;
      return;
    }
    const low = Math.floor(score * 16), above = (score - NODES[low]) / (NODES[low + 1] - NODES[low]);
    counts[low] += 1 - above;
    counts[low + 1] += above;
  }

  return {
    opens: () => slot === 0,
    fewest: () => active.length > 1 ? leader : -1,
    meet: seated => { judges = seated; },
    select() {
      if (slot === 0) {
        planned = active;
        repetitions = passesToCome();
        if (active.length === 1) repetitions = Infinity;
        else if (movers.length > 0) [planned, repetitions] = [movers, moves];
        seen = planned.map(() => new Array(NODES.length).fill(0));
      }
      return planned[slot % planned.length];
    },
    update(arm, score) {
      if (repetitions === Infinity) return;
      count(score, seen[slot % planned.length]);
      slot += 1;
      if (slot === planned.length * repetitions) {
        absorb();
        slot = 0;
      }
    },
    left: () => active.length,
  };
}
