import type { AnswerPlace, AnswerStore } from './answer-store.ts'
import { type SecretBox, SecretUnreadable } from './secrets.ts'

/** Seals the answers of a store that others can read. One that cannot be opened counts as gone. */
export const sealedAnswers = (store: AnswerStore, box: SecretBox): AnswerStore => {
  const aadOf = ({ project, lane }: AnswerPlace, key: string) => `${project}|answers|${lane}|${key}`
  const opened = (sealed: string, aad: string): string | null => {
    try {
      return box.open(sealed, aad)
    } catch (error) {
      if (error instanceof SecretUnreadable) return null
      throw error
    }
  }
  return {
    read: async (place, keys) => {
      const found = await store.read(place, keys)
      if (found === null) return null
      const open = (value: string | null, at: number) =>
        value === null ? null : opened(value, aadOf(place, keys[at] ?? ''))
      return { ...found, values: found.values.map(open) }
    },
    put: (place, key, value) => store.put(place, key, { ...value, text: box.seal(value.text, aadOf(place, key)) }),
    forget: (project, lanes) => store.forget(project, lanes),
  }
}
