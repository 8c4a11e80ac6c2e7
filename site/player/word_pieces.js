// Splits a text into the word pieces that BERT was trained on. The library uses the package tokenizers for this.

const LONGEST = 256; // tokens of a text, at most
const WORD = 100; // characters of a word, at most; a longer one becomes [UNK]
const SPECIAL = /(\[(?:PAD|UNK|CLS|SEP|MASK)\])/;
// The ranges are those of the package tokenizers, which has 2B920 where BERT has 2B820.
const CHINESE =
  /[\u4E00-\u9FFF\u3400-\u4DBF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B73F}\u{2B740}-\u{2B81F}\u{2B920}-\u{2CEAF}\uF900-\uFAFF\u{2F800}-\u{2FA1F}]/gu;
const WORDS = /[!-/:-@[-`{-~\p{P}]|[^ !-/:-@[-`{-~\p{P}]+/gu; // a punctuation mark, or what is between marks and spaces

/**
 * @param {string} text
 * @param {Map<string, number>} vocabulary
 */
export function tokenize(text, vocabulary) {
  const tokens = text.split(SPECIAL).flatMap((part, i) => {
    if (i % 2) return part; // one of the special tokens, which stays as it is
    return (normalize(part).match(WORDS) ?? []).flatMap((word) => pieces(word, vocabulary));
  });
  return ["[CLS]", ...tokens.slice(0, LONGEST - 2), "[SEP]"];
}

/**
 * In lowercase, without control characters and accents, and with a space around each Chinese character.
 * @param {string} text
 */
function normalize(text) {
  const plain = text
    .replace(/(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\uFFFD]/gu, "")
    .replace(/\p{White_Space}/gu, " ")
    .replace(CHINESE, " $& ")
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "");
  return Array.from(plain, (letter) => letter.toLowerCase()).join(""); // letter by letter: a Greek sigma at the end of a word stays σ
}

/**
 * The longest beginning of the word that is in the vocabulary, then the same for the rest; "##" marks a piece that
 * continues a word.
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
