import { parentPort } from 'node:worker_threads'
import type { ParserTasks } from './parser-tasks.ts'
import { taskOf } from './schema.ts'

/** Serves the requests of a pool in its worker. */
export const serveParsers = (tasks: ParserTasks): void => {
  parentPort?.postMessage({ ready: true })
  parentPort?.on('message', (message: unknown) => {
    const { id, run } = taskOf(tasks, message)
    const answer = (reply: object): void => parentPort?.postMessage({ id, ...reply })
    run().then(
      (value) => answer({ value }),
      (error: unknown) => answer({ error: error instanceof Error ? error.message : String(error) }),
    )
  })
}
