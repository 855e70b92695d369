import type { Passage } from '#retrieval/passage.ts'
import type { PassageIndex, PassageQuery } from '#retrieval/passage-index.ts'

/** A passage; its id is the text unless another one is given. */
export const passage = (text: string, rest: Partial<Passage> = {}): Passage => ({
  ...{ id: text, text, group: null, order: 0, at: 0, vector: null },
  ...rest,
})

export const question = (text: string, rest: Partial<PassageQuery> = {}): PassageQuery => ({
  ...{ text, vector: null, limit: 5, now: 0 },
  ...rest,
})

/** The ids of the hits, best first. */
export const found = async (index: PassageIndex, query: PassageQuery): Promise<readonly string[]> =>
  (await index.search(query)).hits.map(({ id }) => id)
