import { parseBuffer } from 'music-metadata'
import type { Json } from '#storage/ports.ts'

/** What a parser reads from: bytes of a stranger, and their MIME type. */
export interface ForeignBytes {
  readonly bytes: Uint8Array
  readonly mimeType: string
}

/** A parser of foreign bytes. It may take for ever, take all memory, or throw: it runs in a worker only. */
export type ParserTask<Input = ForeignBytes> = (input: Input) => Promise<Json>

/** The tasks of a worker by their names. */
export type ParserTasks = Readonly<Record<string, ParserTask<never>>>

/** Seconds of an audio file as its own headers have it; null when they do not say. */
const audioSeconds: ParserTask = async ({ bytes, mimeType }) => {
  const { format } = await parseBuffer(bytes, { mimeType }, { duration: true })
  const { duration } = format
  return duration !== undefined && Number.isFinite(duration) ? duration : null
}

/** Every parser by its name; a capability that reads documents or images adds its own here. */
export const parserTasks = { audio_seconds: audioSeconds } as const satisfies ParserTasks

/** The tasks of a process's own room. */
export type OwnTasks = typeof parserTasks
