import { type CallKind, CallRun, type CallRunParts } from './call-run.ts'
import type { Candidate, CandidateQueue } from './candidates.ts'
import { AttemptFailed, cancelled, refused } from './failure.ts'
import { ModelError } from './provider-port.ts'

/** A kind of call whose attempts return promises. */
export interface AnsweredKind<W extends Candidate, Answer> extends Omit<CallKind<W>, 'attempt' | 'refuse'> {
  readonly signal: AbortSignal
  /**
   * Sends one request on this route.
   * @throws {AttemptFailed} {ModelError} when another attempt or another route may succeed.
   */
  answer(candidate: W, run: CallRun<W>): Promise<Answer>
  /** Disposes of an answer that arrived after the call had ended. */
  discard(answer: Answer): void
}

/** A call that a provider has answered; the receiver still has to end `run`. */
export interface AnsweredCall<W extends Candidate, Answer> {
  readonly run: CallRun<W>
  readonly candidate: W
  readonly answer: Answer
}

/**
 * Runs a call until one route answers.
 *
 * @throws {Error} `kind.refusalOf` the last failure; `cancelled` as soon as its signal aborts. The call is then
 * recorded.
 */
export const firstAnswer = <W extends Candidate, Answer>(
  parts: CallRunParts,
  kind: AnsweredKind<W, Answer>,
  candidates: CandidateQueue<W>,
): Promise<AnsweredCall<W, Answer>> =>
  new Promise((resolve, reject) => {
    const { signal } = kind
    const cancel = (): void => run.fail(cancelled())
    const answered = (candidate: W, answer: Answer): void => {
      if (run.isOver) {
        kind.discard(answer)
        return
      }
      signal.removeEventListener('abort', cancel)
      run.begin()
      resolve({ run, candidate, answer })
    }
    const failed = (error: unknown): void => {
      if (error instanceof AttemptFailed) run.failed(error)
      else if (error instanceof ModelError) run.failed(refused(error))
      else run.fail(error)
    }
    const run = new CallRun<W>(parts, {
      ...kind,
      attempt: (candidate) => void kind.answer(candidate, run).then((answer) => answered(candidate, answer), failed),
      refuse: (error) => {
        signal.removeEventListener('abort', cancel)
        reject(error)
      },
    })
    signal.addEventListener('abort', cancel)
    if (signal.aborted) cancel()
    else run.start(candidates)
  })
