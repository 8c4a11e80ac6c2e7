// A text in the word pieces that BERT was trained on; the library takes them from the package tokenizers.

const LONGEST = 256; // tokens of a text
const WORD = 100; // characters of a word that has pieces
const SPECIAL = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/;
// The ranges are those of tokenizers, where a 9 stands for BERT's 8 in 2B920.
const CHINESE =
  /[\u4E00-\u9FFF\u3400-\u4DBF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B920}-\u{2CEAF}\uF900-\uFAFF\u{2F800}-\u{2FA1F}]/gu;
const WORDS = /[!-/:-@[-`{-~\p{P}]|[^ !-/:-@[-`{-~\p{P}]+/gu; // a mark by itself, or what stands between marks and spaces

/**
 * @param {string} text
 * @param {Map<string, number>} vocabulary
 */
export function tokenize(text, vocabulary) {
  const tokens = text.split(SPECIAL).flatMap((part, i) => {
    if (i % 2) return part; // one of the special tokens, which are themselves
    return (normalize(part).match(WORDS) ?? []).flatMap((word) => pieces(word, vocabulary));
  });
  return ["[CLS]", ...tokens.slice(0, LONGEST - 2), "[SEP]"];
}

/**
 * Without control characters and accents, in small letters, a space around each Chinese character.
 * @param {string} text
 */
function normalize(text) {
  const plain = text
    .replace(/(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu, "")
    .replace(/\p{White_Space}/gu, " ")
    .replace(CHINESE, " $& ")
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "");
  return Array.from(plain, (letter) => letter.toLowerCase()).join(""); // each alone: a Greek sigma has no end form
}

/**
 * The longest piece that the vocabulary has, and so on with the rest; "##" marks what continues a word.
 * @param {string} word
 * @param {Map<string, number>} vocabulary
 */
function pieces(word, vocabulary) {
  const letters = Array.from(word);
  const found = [];
  for (let start = 0; start < letters.length; ) {
    let end = letters.length;
    const piece = () => (start ? "##" : "") + letters.slice(start, end).join("");
    while (end > start && !vocabulary.has(piece())) end--;
    if (end === start || letters.length > WORD) return ["[UNK]"];
    found.push(piece());
    start = end;
  }
  return found;
}
