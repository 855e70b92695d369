import { type CallKind, CallRun, type CallRunParts } from './call-run.ts'
import { AttemptFailed, cancelled, refused } from './failure.ts'
import { ModelError } from './provider-port.ts'
import type { Way, Ways } from './ways.ts'

/** A kind of call whose attempts return promises. */
export interface AnsweredKind<W extends Way, Answer> extends Omit<CallKind<W>, 'attempt' | 'refuse'> {
  readonly signal: AbortSignal
  /**
   * Sends one request on this route.
   * @throws {AttemptFailed} {ModelError} when another attempt or another route may succeed.
   */
  answer(way: W, run: CallRun<W>): Promise<Answer>
  /** Disposes of an answer that arrived after the call had ended. */
  discard(answer: Answer): void
}

/** A call that a provider has answered; the receiver still has to end `run`. */
export interface AnsweredCall<W extends Way, Answer> {
  readonly run: CallRun<W>
  readonly way: W
  readonly answer: Answer
}

/**
 * Runs a call until one route answers.
 *
 * @throws {Error} `kind.refusalOf` the last failure; `cancelled` as soon as its signal aborts. The call is then
 * recorded.
 */
export const firstAnswer = <W extends Way, Answer>(
  parts: CallRunParts,
  kind: AnsweredKind<W, Answer>,
  ways: Ways<W>,
): Promise<AnsweredCall<W, Answer>> =>
  new Promise((resolve, reject) => {
    const { signal } = kind
    const cancel = (): void => run.fail(cancelled())
    const answered = (way: W, answer: Answer): void => {
      if (run.isOver) {
        kind.discard(answer)
        return
      }
      signal.removeEventListener('abort', cancel)
      run.begin()
      resolve({ run, way, answer })
    }
    const failed = (error: unknown): void => {
      if (error instanceof AttemptFailed) run.failed(error)
      else if (error instanceof ModelError) run.failed(refused(error))
      else run.fail(error)
    }
    const run = new CallRun<W>(parts, {
      ...kind,
      attempt: (way) => void kind.answer(way, run).then((answer) => answered(way, answer), failed),
      refuse: (error) => {
        signal.removeEventListener('abort', cancel)
        reject(error)
      },
    })
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    else run.start(ways)
  })
