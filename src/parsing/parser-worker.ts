import { parentPort } from 'node:worker_threads'
import { type ForeignBytes, type ParserName, parserTasks } from './parser-tasks.ts'

/** A request to the worker. */
export interface ParserRequest extends ForeignBytes {
  readonly id: number
  readonly task: ParserName
}

parentPort?.postMessage({ ready: true })
parentPort?.on('message', ({ id, task, ...input }: ParserRequest) => {
  const answer = (reply: object): void => parentPort?.postMessage({ id, ...reply })
  parserTasks[task](input).then(
    (value) => answer({ value }),
    (error: unknown) => answer({ error: error instanceof Error ? error.message : String(error) }),
  )
})
