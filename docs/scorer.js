// Pages to use come before pages to trust or to change the code by; where to begin comes first.
const FIRST = /^(start\/(install|gallery)|study\/(own-policy|policies)|plan\/(planning|spreadsheet)|audit\/auditing|run\/live)$/;
const LATER = /^(development|reference\/(api|cli|glossary)|plan\/stories|study\/studies|start\/changelog)/;

var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    if (FIRST.test(page)) return score + 10;
    return LATER.test(page) ? score - 10 : score;
  },
  // What follows is what Sphinx takes unless told otherwise.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
