import type { SetPage, SetQuestion } from './page-sets.ts'

/** Spam pages that are made to be found by a question, and copies of a page that answers it. */
export interface Planted {
  readonly spam: readonly SetPage[]
  readonly mirrors: readonly SetPage[]
}

const offers =
  'Cheapest casino bonus online. Best replica pills discount. Guaranteed payday loan today. Win the jackpot with free slots. Buy now.'

/**
 * Returns pages that match a question without answering it: the question repeated, its words in lists, the question
 * between advertisements, and titles that consist of it. Also returns copies of the page that answers it.
 */
export const plantedFor = ({ text }: SetQuestion, answer: SetPage, number: number): Planted => {
  const host = (n: number): string => `https://p${number}-${n}.example`
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
  const shuffled = (from: number): string => words.map((_, at) => words[(at * 7 + from) % words.length]).join(' ')
  const lists = Array.from({ length: 60 }, (_, at) => shuffled(at)).join(', ')
  const sentences = Array.from({ length: 40 }, (_, at) => `Read about ${shuffled(at)} here.`).join(' ')
  const texts = [
    `${text} `.repeat(40),
    lists,
    `${text}. ${offers} ${text}. ${offers} ${text}. ${offers}`,
    sentences,
    `${text}\n\n${`${shuffled(3)}\n`.repeat(30)}`,
    `${offers} ${answer.text.slice(0, 200)} ${offers} ${text} ${offers} ${text}`,
  ]
  const spam = texts.map((body, n) => ({
    url: `${host(n)}/${n}`,
    title: n % 2 === 0 ? text : `${text} ${text}`,
    text: body,
  }))
  const copies = [answer.text, `${answer.text}\n\nCopied with thanks.`, `Welcome to our site.\n\n${answer.text}`]
  return { spam, mirrors: copies.map((body, n) => ({ url: `${host(n)}/copy`, title: answer.title, text: body })) }
}
