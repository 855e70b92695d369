import { ServiceError } from '#specs/errors/errors.ts'
import { ParserRoom } from '#src/parsing/parser-room.ts'
import type { HitsOf, Sought } from '../find-personal-data.ts'
import type { FinderTasks } from './finder-tasks.ts'
import { hitsFrom } from './schema.ts'

/** The longest request is read in about a second; the worst that was found, in a few. */
const limits = { deadlineMs: 20_000, maxHeapMb: 512 }

/** A worker of its own, which starts with the first long request. */
const room = new ParserRoom<FinderTasks>(limits, new URL('./finder-worker.ts', import.meta.url))

/** Personal data in long texts, found by a worker. @throws {ServiceError} `redaction_unavailable` */
export const findApart = async (texts: readonly string[], { types, region }: Sought): Promise<HitsOf> => {
  const found = await room.parse('find_personal_data', { texts, types: [...types], region }).catch((cause: unknown) => {
    throw new ServiceError('redaction_unavailable', { cause })
  })
  const hits = hitsFrom(found)
  // by text and not by place: equal texts have equal hits
  const byText = new Map(texts.map((text, at) => [text, hits[at] ?? []]))
  return (text) => byText.get(text) ?? []
}
