import { type Collection, type Question, relevantOf, type Scope, type Text } from './collection.ts'

const people = ['Ada', 'Bruno', 'Chiara', 'Dmitri', 'Esra', 'Farid'] as const
const facts = [
  ['adopted a grey cat called Pebble', 'Which animal did NAME adopt?'],
  ['works as a bridge engineer in Porto', 'What is the profession of NAME?'],
  ['is allergic to hazelnuts', 'Which nuts is NAME allergic to?'],
  ['plays the cello in an amateur orchestra', 'Which instrument does NAME play?'],
  ['moved to a flat beside the harbour', 'Where did NAME move?'],
  ['is learning to bake rye bread', 'What is NAME learning to bake?'],
  ['ran a marathon in the rain', 'Which race did NAME run?'],
  ['collects maps of railways', 'What does NAME collect?'],
] as const
const chatter = [
  'How was your day?',
  'It rained here all week.',
  'I have to go, talk to you soon!',
  'That sounds wonderful.',
]
const dayMs = 86_400_000

/** A small generated set, so that the section runs without the public ones; its figures say little. */
export const madeMemories = (): Collection => ({ name: 'made', profile: 'memory', scopes: pairs.map(scopeOf) })

const pairs = people.map((person, at) => [person, people[(at + 1) % people.length] ?? person] as const)

function scopeOf([first, second]: readonly [string, string], at: number): Scope {
  const own = facts.filter((_, fact) => fact % 2 === at % 2)
  const texts = own.flatMap(([fact], session): readonly Text[] => {
    const beside = { group: `session ${session}`, at: session * dayMs }
    const said = (order: number, speaker: string, text: string): Text => {
      return { id: `${session}:${order}`, text, order, speaker, ...beside }
    }
    const small = chatter[session % chatter.length] ?? ''
    return [
      said(0, second, small),
      said(1, session % 2 === 0 ? first : second, `By the way, my family knows that I am the one who ${fact}`),
      said(2, first, small),
    ]
  })
  const questions = own.map(([, question], session): Question => {
    const name = session % 2 === 0 ? first : second
    return { text: question.replace('NAME', name), relevant: relevantOf([`${session}:1`]), sort: 'answerable', now: 0 }
  })
  const wrong = questions.map(({ text }, session): Question => {
    const [from, to] = session % 2 === 0 ? [first, second] : [second, first]
    return { text: text.replace(from, to), relevant: relevantOf([]), sort: 'wrong person', now: 0 }
  })
  return { name: `${first} and ${second}`, texts, questions: [...questions, ...wrong] }
}
