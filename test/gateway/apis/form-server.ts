import type { AnyUseCases } from '#actors/call/use-cases.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { answerChecker } from '#specs/dsl/validate.ts'
import { noted } from '#test/support/called-operations.ts'
import { principals, type Received, type Sent, serve } from '#test/transport/api/serving.ts'

/** The operations of an API behind the dispatcher, with validation and envelopes but without a socket. */
export const formServer = (declared: Readonly<Record<string, Operation>>, useCases: AnyUseCases) => {
  const { send } = serve(Object.values(declared), noted(useCases))
  return (target: string, body?: unknown, sent: Partial<Sent> = {}): Promise<Received> =>
    send({ method: body === undefined ? 'GET' : 'POST', target, as: principals.secret_key, body, ...sent })
}

/** The JSON of each frame of a stream; `[DONE]` is kept as text and keep-alive comments are left out. */
export const framesIn = (text: string): ReturnType<typeof JSON.parse>[] =>
  text
    .split('\n\n')
    .filter((frame) => frame !== '' && !frame.startsWith(':'))
    .map((frame) => {
      const data = /^data: (.*)$/m.exec(frame)?.[1] ?? ''
      return data === '[DONE]' ? data : JSON.parse(data)
    })

/** Checks a document against the JSON answer of an operation: an error message, or null. */
export const declaredAnswer = ({ answer }: Operation) => {
  if (answer.kind === 'choice') return answerChecker(answer.json.schema.json)
  if (answer.kind === 'json') return answerChecker(answer.schema.json)
  throw new Error('it answers no JSON')
}
