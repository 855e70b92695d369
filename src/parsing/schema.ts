import { isObject } from '#outgoing/wire.ts'
import type { Json } from '#storage/ports.ts'
import type { ParserTasks } from './parser-tasks.ts'

/** What the worker answers: a value, or why there is none. */
export type Reply = { readonly id: number; readonly value?: Json; readonly error?: string }

/** Whether a message of the worker is an answer. */
export const isReply = (message: unknown): message is Reply => isObject(message) && typeof message.id === 'number'

/** Whether the worker says that it has loaded its parsers. */
export const isReady = (message: unknown): boolean => isObject(message) && message.ready === true

/** The task that a message of the room names, with its input. */
export const taskOf = (tasks: ParserTasks, message: unknown): { id: number; run: () => Promise<Json> } => {
  const { id, task, input } = message as { readonly id: number; readonly task: string; readonly input: never }
  return { id, run: async () => (await tasks[task]?.(input)) ?? null }
}
