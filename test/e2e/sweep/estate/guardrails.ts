import type { EstatePart } from './estate-part.ts'

const words = (text: string) => ({ type: 'words', words: [text], on: 'output', action: 'flag' })

/** The estate of guardrails, none of which applies to the calls of others. */
export const guardrails: EstatePart = {
  bodies: {
    'guardrails.create': ({ mark }, n) => ({ name: `${mark}-${n}`, description: mark, checks: [words(mark)] }),
    'guardrails.update': ({ mark }, n) => ({ description: `${mark} ${n}`, checks: [words(`${mark} ${n}`)] }),
  },
  beyondSchema: {
    'guardrails.create': 'patterns, URLs and schemas are ones that can be used',
    'guardrails.update': 'likewise',
  },
}
