import { isObject } from '#outgoing/wire.ts'
import type { Json } from '../storage/index.ts'
import type { ParserTasks } from './parser-tasks.ts'

/** A reply of the worker: a value, or an error message. */
export type Reply = { readonly id: number; readonly value?: Json; readonly error?: string }

/** Whether a message of the worker is a reply. */
export const isReply = (message: unknown): message is Reply => isObject(message) && typeof message.id === 'number'

/** Whether the message reports that the worker has loaded its parsers. */
export const isReady = (message: unknown): boolean => isObject(message) && message.ready === true

/** Returns the task named in a message of the pool, bound to its input. */
export const taskOf = (tasks: ParserTasks, message: unknown): { id: number; run: () => Promise<Json> } => {
  const { id, task, input } = message as { readonly id: number; readonly task: string; readonly input: never }
  return { id, run: async () => (await tasks[task]?.(input)) ?? null }
}
