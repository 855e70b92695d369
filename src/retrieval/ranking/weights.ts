/** How the parts of a score are weighed. */
export interface Weights {
  /** BM25: how soon more of the same word counts less, and how much long passages are held back. */
  readonly k1: number
  readonly b: number
  /** Exponent of the share of the question's words that a passage has; 0 for none. */
  readonly coordination: number
  /** Of the words that the best passages have in common beside the question's; 0 for none. */
  readonly feedback: number
  readonly lexical: number
  readonly vector: number
  /** Of the vector with those of the passages beside it. */
  readonly window: number
  /** Of the vector of the question without what names the document that it is about. */
  readonly topic: number
  /** Of the words of the whole group. */
  readonly group: number
  /** Of the words that the group's title has. */
  readonly title: number
  /** Of the better of the two passages beside it. */
  readonly neighbour: number
  /** Factor of what stands on a page of which a better passage is found. */
  readonly again: number
  /** Of a date in the question that the passage's own fits. */
  readonly time: number
  /** A newer passage goes before an older that has as many of the question's words, from this share of its score. */
  readonly newer: number
  /** The same for a newer passage that says of itself that something changed, from this share of its score and half of its words. */
  readonly amended: number
  /** Factor of what someone else said than the one person whom the question names. */
  readonly otherPerson: number
  /** Words of an average passage up to which it leans wholly on those beside it; 0: however long. */
  readonly brief: number
  /** What the vector of passages far beyond that counts more. */
  readonly longVector: number
  /** Of an instruction for later requests that has the question's words; and the least share of the best score that the closest gets. */
  readonly instruction: number
  readonly closestInstruction: number
  /** Of a preference that has the words of a question for advice. */
  readonly preference: number
  /** What a reply to the assistant loses of its score among long passages; and for a question about what was said. */
  readonly reply: number
  readonly replyBack: number
  /** By which the score of a hit is calibrated. */
  readonly calibration: Profile
  /** Members from which a group counts as a prior. */
  readonly leastGroup: number
}

/** What a passage is: something said or known, found among hundreds alike, or a part of a document. */
export type Profile = 'memory' | 'document'

/** Measured by `npm run bench -- --only recall` on one half of the questions, reported for the other. */
export const weightsOf: Readonly<Record<Profile, Weights>> = {
  memory: {
    ...{ k1: 0.9, b: 0.4, coordination: 0.5, feedback: 0, lexical: 0.4, vector: 0.4, window: 0.25, group: 0.3 },
    ...{
      neighbour: 0.3,
      time: 0.3,
      newer: 0.99,
      amended: 0.7,
      otherPerson: 0.65,
      ...{ brief: 14, longVector: 0.5, instruction: 0.5, closestInstruction: 0.8, preference: 0.6 },
      ...{ reply: 0.1, replyBack: 0.2 },
      leastGroup: 2,
      title: 0,
      ...{ topic: 0, again: 1 },
      calibration: 'memory',
    },
  },
  document: {
    ...{ k1: 0.9, b: 0.4, coordination: 0, feedback: 0, lexical: 0.6, vector: 1, window: 0, group: 0.15 },
    ...{ title: 0.4, topic: 0.3, again: 0.9 },
    ...{ neighbour: 0, time: 0, newer: 1, amended: 1, otherPerson: 1, leastGroup: 20, calibration: 'document' },
    ...{ brief: 0, longVector: 0, instruction: 0, closestInstruction: 0, preference: 0, reply: 0, replyBack: 0 },
  },
}

/**
 * Passages of web pages: texts of all lengths, and each passage is as much of its page as answers a query by itself.
 * Measured by `npm run bench -- --only web` in the same way.
 */
export const weightsOfPages: Weights = { ...weightsOf.document, k1: 3, b: 0.8, feedback: 0.1, vector: 0.5, group: 0 }
