
/** From and to (exclusive), as `text.slice` counts: UTF-16 code units of the whole text. */
export type Range = [start: number, end: number];

/** A name: where it is in the whole text, its tokens in the sentence, and its type. */
export interface Span {
  start: number;
  end: number;
  text: string;
  token_start: number;
  token_end: number;
  type: string;
}

/** A tagged sentence, as `dropchain tag --output jsonl --offsets utf16` writes it. */
export interface TaggedSentence {
  tokens: string[];
  labels: string[];
  /** Absent if the labels encode no spans, as parts of speech. */
  spans?: Span[];
  /** Of the tokens. */
  offsets: Range[];
  text: string;
  /** Of the sentence. */
  offset: Range;
  /** With marginals: of the whole label sequence. */
  probability?: number;
  /** With marginals: for each token, the probability of each label, highest first. */
  marginals?: Record<string, number>[];
}
