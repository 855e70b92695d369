import { parseBuffer } from 'music-metadata'
import type { Json } from '../storage/index.ts'

/** Input of a parser: untrusted bytes, and their MIME type. */
export interface ForeignBytes {
  readonly bytes: Uint8Array
  readonly mimeType: string
}

/** A parser of untrusted bytes. It may run for ever, exhaust memory, or throw, so it only runs in a worker. */
export type ParserTask<Input = ForeignBytes> = (input: Input) => Promise<Json>

/** Tasks of a worker, by name. */
export type ParserTasks = Readonly<Record<string, ParserTask<never>>>

/** Returns the length of an audio file in seconds according to its headers; null when they do not state it. */
const audioSeconds: ParserTask = async ({ bytes, mimeType }) => {
  const { format } = await parseBuffer(bytes, { mimeType }, { duration: true })
  const { duration } = format
  return duration !== undefined && Number.isFinite(duration) ? duration : null
}

/** Parsers by name. A feature that reads documents or images has its own tasks and pool. */
export const parserTasks = { audio_seconds: audioSeconds } as const satisfies ParserTasks

/** Tasks of the shared pool. */
export type OwnTasks = typeof parserTasks
