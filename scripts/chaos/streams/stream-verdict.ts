import type { Frame } from '#scripts/quickstart/sse-lines.ts'
import type { Problem } from '../verdict.ts'

/** A frame, and when it arrived, in ms by performance.now(). */
export interface Seen extends Frame {
  readonly at: number
}

/** What the reader of one turn, run or response received, and what a later reader gets. */
export interface StreamEvidence {
  /** Kind of the reader, and what it read. */
  readonly who: string
  /** Whether the reader has requested `restarts=true`. */
  readonly restarts: boolean
  /** Number of tokens of a whole answer. */
  readonly tokens: number
  readonly frames: readonly Frame[]
  readonly log: readonly Frame[]
}

/** Returns how the reader's frames differ from one attempt of the answer, whole or followed by its end; see `judge`. */
export const judgeStream = (evidence: StreamEvidence): readonly Problem[] =>
  [...ids(evidence), ...endings(evidence), ...texts(evidence), ...against(evidence)].map(({ kind, what }) => ({
    kind,
    what: `${evidence.who}: ${what}`,
  }))

/** Whether the event is a part of the text. */
export const isText = ({ event }: Pick<Frame, 'event'>): boolean => event.endsWith('output_text.delta')

/** Whether the event is the last one of a turn, a run or a response. */
export const isEnd = ({ event }: Pick<Frame, 'event'>): boolean =>
  /^(turn|run|response)\.(completed|failed|incomplete|cancelled|expired)$/.test(event)

/** Whether the model is about to answer, or has begun to: runs show nothing before their end. */
export const isUnderWay = ({ event }: Pick<Frame, 'event'>): boolean =>
  isText({ event }) || event === 'response.in_progress' || event === 'run.model_call.started'

const beginnings = new Set(['turn.started', 'turn.restarted', 'response.created', 'run.model_call.started'])

/** Whether the event begins an attempt. */
const begins = ({ event }: Frame): boolean => beginnings.has(event)

/** The text that an event adds to its attempt; null for one that has none. */
const addedText = (frame: Frame): string | null =>
  isText(frame) ? String(frame.data.delta) : frame.event === 'run.model_call.completed' ? String(frame.data.text) : null

/** The whole text with which a turn, run or response has ended. */
const outputOf = ({ data }: Frame): string => {
  const { output } = data.response === undefined ? data : Object(data.response)
  if (typeof output === 'string') return output
  if (!Array.isArray(output)) return String(Object(output).text)
  return output.flatMap(({ content = [] }) => content.map(({ text }: { readonly text: string }) => text)).join('')
}

/** Whether the event is one of an attempt that a crash may cut. */
const isOfAttempt = (frame: Frame): boolean =>
  isText(frame) || /^response\.(output_item|content_part|output_text)\./.test(frame.event)

const ids = ({ frames }: StreamEvidence): readonly Problem[] => {
  const torn = frames.find(({ id }, at) => at > 0 && Number(id) <= Number(frames[at - 1]?.id))
  return torn === undefined ? [] : [{ kind: 'doubled', what: `event ${torn.id} came twice, or late` }]
}

const endings = ({ frames, tokens }: StreamEvidence): readonly Problem[] => {
  const ends = frames.filter(isEnd)
  const [end] = ends
  if (end === undefined) return [{ kind: 'lost', what: 'no end' }]
  if (ends.length > 1) return [{ kind: 'doubled', what: `${ends.length} ends` }]
  if (!end.event.endsWith('.completed'))
    return [{ kind: 'lost', what: `${end.event} with ${JSON.stringify(end.data)}` }]
  return attemptProblems(outputOf(end), 'the output', tokens)
}

/** The text of each attempt that was shown is a prefix of one answer; the one of the last is the output. */
const texts = ({ frames, restarts }: StreamEvidence): readonly Problem[] => {
  const attempts: string[] = []
  for (const frame of frames) {
    const added = addedText(frame)
    if (begins(frame)) attempts.push('')
    else if (added !== null) attempts.push(`${attempts.pop() ?? ''}${added}`)
  }
  const end = frames.find(isEnd)
  const isWhole = !restarts || end === undefined || attempts.at(-1) === outputOf(end)
  return [
    ...attempts.flatMap((text) => attemptProblems(text, 'an attempt', null)),
    ...(isWhole ? [] : [{ kind: 'lost', what: 'the deltas since the last start are not the output' } as const]),
    ...(restarts || attempts.length <= 1
      ? []
      : [{ kind: 'broken', what: 'restarts that were not requested' } as const]),
  ]
}

/** Tokens of one call, from 0, none missing and none twice. @param whole number of tokens; null for any. */
const attemptProblems = (text: string, name: string, whole: number | null): readonly Problem[] => {
  const tokens = text.split(' ').filter((token) => token !== '')
  const call = tokens[0]?.split('.')[0]
  const at = tokens.findIndex((token, index) => token !== `${call}.${index}`)
  const wrong = tokens[at]
  if (wrong !== undefined) {
    const [of, index] = wrong.split('.')
    const kind = of !== call ? 'broken' : Number(index) < at ? 'doubled' : 'lost'
    return [{ kind, what: `${name} has ${wrong} after ${tokens[at - 1]}${of === call ? '' : ' (mixed)'}` }]
  }
  const isShort = whole !== null && tokens.length !== whole
  return isShort ? [{ kind: 'lost', what: `${name} has ${tokens.length} of ${whole} tokens` }] : []
}

/** An id names one event, for this reader and in the log; one that follows restarts misses nothing. */
const against = ({ frames, restarts, log }: StreamEvidence): readonly Problem[] => {
  const rows = new Map(log.map((row) => [row.id, row]))
  const other = frames.find((frame) => {
    const row = rows.get(frame.id)
    return row === undefined ? !isOfAttempt(frame) : !isSame(frame, row)
  })
  const seen = new Set(frames.map(({ id }) => id))
  const missed = restarts ? log.find(({ id }) => !seen.has(id)) : undefined
  return [
    ...(other === undefined ? [] : [{ kind: 'broken', what: `event ${other.id} is not that of the log` } as const]),
    ...(missed === undefined ? [] : [{ kind: 'lost', what: `event ${missed.id} ${missed.event}` } as const]),
  ]
}

const isSame = (one: Frame, other: Frame): boolean =>
  one.event === other.event && JSON.stringify(one.data) === JSON.stringify(other.data)
