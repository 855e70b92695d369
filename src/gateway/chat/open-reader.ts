import { countOf } from '#outgoing/wire.ts'
import type { FormatRequest } from '../call/chat-format.ts'
import type { Route } from '../call/routes.ts'
import type { TokenUsage } from '../prices/usage.ts'
import { OpenAiChunks } from '../providers/openai/openai-chunks.ts'
import type { ChatRestorer } from '../redaction/chat-restorer.ts'
import type { AnswerListener, AnswerReader } from './answer-reader.ts'
import { costBy } from './chat-record.ts'
import type { RunListener } from './chat-run-request.ts'
import { ChunkReader } from './chunk-reader.ts'
import { FrameReader } from './frame-reader.ts'
import { FramesThenChunks } from './frames-then-chunks.ts'
import { OpenAiDecoder } from './openai-decoder.ts'
import { possibleUsage } from './possible-usage.ts'
import { WholeReader } from './whole-reader.ts'
import { type ChatInput, wantsUsage } from './wire-body.ts'

/** How the answer of one attempt is read. */
export interface ReadingOptions {
  readonly body: ChatInput['body']
  /** null for OpenAI's own format. */
  readonly format: FormatRequest | null
  readonly route: Route | null
  readonly restorer: ChatRestorer | null
  /** What the listener accepts in place of chunks. */
  readonly takes: Pick<RunListener, 'takesFrames' | 'words'>
}

/** What a listener gets of an answer that guardrails check. */
export const chunksOnly: ReadingOptions['takes'] = { takesFrames: false }

/** Reads a complete answer although a stream was requested. */
export const wholeReader = (listener: AnswerListener, { body, format, restorer }: ReadingOptions): AnswerReader =>
  new WholeReader(listener, { format, hidesUsage: !wantsUsage(body), restorer })

/** Reads a stream. */
export const streamReader = (listener: AnswerListener, options: ReadingOptions): AnswerReader => {
  const { body, format, route, restorer, takes } = options
  const hidesUsage = !wantsUsage(body)
  if (format !== null || !takes.takesFrames)
    return new ChunkReader(
      listener,
      format?.decoder() ?? new OpenAiDecoder(new OpenAiChunks(), takes.words !== undefined),
      { hidesUsage, restorer },
    )
  const costOf = (usage: TokenUsage): string | null =>
    route === null || possibleUsage(usage, body, route) === null ? null : costBy(route, usage)
  const frames = { hidesUsage, choices: countOf(body.n) || 1, costOf }
  return restorer === null ? new FrameReader(listener, frames) : new FramesThenChunks(listener, { ...frames, restorer })
}
