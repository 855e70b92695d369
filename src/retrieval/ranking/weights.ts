/** Weights of the parts of a score. */
export interface Weights {
  /** BM25 parameters: saturation of term frequency, and length normalisation. */
  readonly k1: number
  readonly b: number
  /** Minimum contribution of a word that occurs, however long the passage (BM25+, Lv and Zhai, 2011); 0: none. */
  readonly floor: number
  /** BM25 parameter: saturation of the frequency of a word in the question; 0: each word counts once. */
  readonly k3: number
  /** Share of a passage's lexical score that is the score of its whole group, if that is short; 0 to 1. */
  readonly whole: number
  /** Exponent of the share of the question's words that a passage has; 0 disables it. */
  readonly coordination: number
  /** Weight of words that the best passages have in common in addition to the question's; 0 disables it. */
  readonly feedback: number
  readonly lexical: number
  readonly vector: number
  /** Weight of the vector averaged with those of the neighbouring passages. */
  readonly window: number
  /** Weight of the vector of the question without the words that name its document. */
  readonly topic: number
  /** Weight of the vector of the lead of a passage's page, relative to the passage's own vector. */
  readonly lead: number
  /** Weight of the words of the whole group. */
  readonly group: number
  /** Weight of the question's words in the group's title; and that of a short group, whose text is about its title. */
  readonly title: number
  readonly titleShort: number
  /** Weight of the better of the two neighbouring passages. */
  readonly neighbour: number
  /** Factor for a passage on a page of which a better passage is found. */
  readonly again: number
  /** The same factor for a source without pages that is as short as a page. */
  readonly againShort: number
  /** Weight of a date in the question that matches the passage's. */
  readonly time: number
  /**
   * A newer passage precedes an older one with as many of the question's words if its score is at least this share of
   * the older one's.
   */
  readonly newer: number
  /** The same share for a newer passage that states a change; half of the older one's words are enough. */
  readonly amended: number
  /** Factor for passages said by someone other than the one person named in the question. */
  readonly otherPerson: number
  /** Average passage length in words up to which neighbours count in full; 0: at any length. */
  readonly brief: number
  /** Additional weight of the vector when passages are much longer than `brief`. */
  readonly longVector: number
  /**
   * Weight of an instruction for later requests that has the question's words; and the minimum score of the closest
   * instruction, as a share of the best.
   */
  readonly instruction: number
  readonly closestInstruction: number
  /** Weight of a preference that has the words of a question for advice. */
  readonly preference: number
  /**
   * Share of its score that a reply to the assistant loses among long passages; and for a question about what was said.
   */
  readonly reply: number
  readonly replyBack: number
  /** Calibration applied to the scores of hits. */
  readonly calibration: Profile
  /** Minimum number of members for a group to count as a prior. */
  readonly minGroup: number
}

/** Kind of passages: memories, found among hundreds of similar ones, or parts of a document. */
export type Profile = 'memory' | 'document'

/** Number of passages up to which a group is short: about as much as a page has. */
export const shortGroup = 4

/** How short a group of this size is, 0 to 1. */
export const shortnessOf = (size: number): number => Math.min(1, shortGroup / size)

/**
 * Tuned with `npm run bench -- --only recall` on one half of the questions; results are reported for the other half. The BM25 parameters of documents are the
 * usual ones (specs/decisions/0232-ranking-of-documents.md).
 */
export const weightsOf: Readonly<Record<Profile, Weights>> = {
  memory: {
    ...{ k1: 0.9, b: 0.4, floor: 1, k3: 0, whole: 0, coordination: 0.5, feedback: 0 },
    ...{ lexical: 0.4, vector: 0.4, window: 0.25, group: 0.3 },
    ...{
      neighbour: 0.3,
      time: 0.3,
      newer: 0.99,
      amended: 0.7,
      otherPerson: 0.65,
      ...{ brief: 14, longVector: 0.5, instruction: 0.5, closestInstruction: 0.8, preference: 0.6 },
      ...{ reply: 0.1, replyBack: 0.2 },
      minGroup: 2,
      ...{ title: 0, titleShort: 0 },
      ...{ topic: 0, lead: 0, again: 1, againShort: 1 },
      calibration: 'memory',
    },
  },
  document: {
    ...{ k1: 1.5, b: 0.75, floor: 0, k3: 8, whole: 0.5, coordination: 0, feedback: 0 },
    ...{ lexical: 0.6, vector: 1, window: 0, group: 0.15 },
    ...{ title: 0.4, titleShort: 0.1, topic: 0.5, lead: 0.4, again: 0.9, againShort: 0.6 },
    ...{ neighbour: 0, time: 0, newer: 1, amended: 1, otherPerson: 1, minGroup: 20, calibration: 'document' },
    ...{ brief: 0, longVector: 0, instruction: 0, closestInstruction: 0, preference: 0, reply: 0, replyBack: 0 },
  },
}

/**
 * Weights for passages of web pages. Lengths vary widely, and a passage alone contains as much of its page as answers a
 * query. Tuned with `npm run bench -- --only web` in the same way.
 */
export const weightsOfPages: Weights = {
  ...weightsOf.document,
  ...{ k1: 3, b: 0.8, floor: 1, k3: 0, titleShort: 0.4, whole: 0, feedback: 0.1, vector: 0.5, group: 0, againShort: 1 },
}
