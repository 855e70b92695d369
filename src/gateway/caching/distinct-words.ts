import { contentTermsOf } from '#retrieval/index.ts'

/** Words of questions that say nothing about their subject, in the languages that are stemmed. */
const fillers = new Set(
  `able ask best bitte can could describe do does explain find get give have help hello hi how i inform is kindly know let like
  look make me mean means need number number offer please possible reason show tell thank thanks thing to understand want way what
  whether which would
  angeben anbieten bieten bietet brauche braucht erklär erkläre erklären finde finden gib gibt kannst können könnte
  könnten möchte möglich nennen sag sage sagen tun weise zeige
  acceptable aide aider dire dites donne donner expliquer explique existe faire fais offrez peut peux possible pouvez pourriez
  proposez puis trouver trouve veux voudrais
  ayuda cual cuál decir dime explica explicar existe hacer hago hay necesito ofrecen podría posible puede puedo quiero saber
  dimmi esiste fare faccio offrite posso possibile potrei puoi sapere spiega spiegare vorrei
  existe explica fazer faço gostaria oferecem pode poderia posso preciso quero saber vocês
  geef kan kunnen leg uitleggen vertel wil
  можно могу можете мне объясни объясните скажи скажите хочу
  如何 怎么 请 我 可以 能 需要 告诉 这个`
    .split(/\s+/)
    .map((word) => word.normalize('NFKC')),
)

/** Function words that turn the meaning of a question, by what they say. */
const turning: readonly (readonly [sense: string, words: string])[] = [
  [
    'not',
    `not no never without cannot dont doesnt isnt arent wasnt werent wont cant couldnt shouldnt nicht kein keine keinen keiner
    keinem nie niemals ohne pas jamais sans aucun aucune non mai senza nessun nessuna nunca jamás sin ningún ninguna não sem nenhum
    nenhuma niet geen nooit zonder не нет нельзя без никогда değil yok hiç`,
  ],
  ['before', 'before until vor bevor bis avant antes prima voor vóór до'],
  ['after', 'after since nach nachdem seit après después depois dopo na после'],
  ['on', 'on aan hinein'],
  ['off', 'off out aus uit hinaus'],
  ['up', 'up hoch hinauf auf over above über'],
  ['down', 'down herunter hinunter ab under below unter'],
  ['when', 'when wann quand cuándo cuando quando wanneer когда'],
  ['where', 'where wo woher wohin où dónde donde dove onde waar где куда'],
  ['why', 'why warum wieso weshalb pourquoi perché por waarom почему отчего'],
  ['who', 'who whom whose wer wem wen wessen qui quién quien chi quem кто'],
  ['should', 'should must sollte soll muss dois doit faut debo debe tengo devo deve dovrei moet должен нужно'],
  ['your', 'your yours dein deine deinen ihr ihre ihren votre vos ton tes tu tus tuo tua seu sua jouw твой ваш ваша'],
  ['others', 'his her hers he she him their they our we'],
]
const senses = new Map(turning.flatMap(([sense, words]) => words.split(/\s+/).map((word) => [word, sense] as const)))

const word = /[\p{L}\p{M}\p{N}_]+(?:['’][\p{L}\p{M}]+)?/gu
const quoted = /`[^`]{1,80}`|"[^"]{1,80}"|“[^”]{1,80}”|«[^»]{1,80}»|「[^」]{1,80}」/gu
/** Numbers, names with digits, addresses, placeholders of personal data, abbreviations. */
const exact = /[\p{N}_@]|:\/\/|\p{Lu}{2}/u
const punctuation = new Set('.,:;?!¿¡()"\'`“”«»「」？。！')

/**
 * Returns the words of a question on which its answer depends, in their order: two questions have the same answer only if they
 * have the same ones. Its subject by stems, without words such as "please explain"; what turns the meaning ("not", "after"); and
 * everything that is written exactly.
 */
export const distinctWords = (text: string): string => {
  const plain = text.normalize('NFKC')
  const [quotes, literals] = literalsIn(plain)
  const subject = contentTermsOf(plain, fillers)
  const turns = [...plain.toLowerCase().matchAll(word)].flatMap(
    ([found]) => senses.get(found.replace(/['’]/g, '')) ?? [],
  )
  return JSON.stringify([quotes, literals, subject, turns])
}

/** Returns what is written exactly in a question, in any order. */
export const literalsOf = (text: string): string =>
  JSON.stringify(literalsIn(text.normalize('NFKC')).map((each) => each.toSorted()))

const literalsIn = (plain: string): readonly [quotes: readonly string[], literals: readonly string[]] => {
  const words = plain.split(/\s+/).filter((each) => exact.test(each))
  return [[...plain.matchAll(quoted)].map(([found]) => found), words.map(bare)]
}

/** Returns a word without the punctuation around it. */
const bare = (text: string): string => {
  let [from, to] = [0, text.length]
  while (from < to && punctuation.has(text[from] ?? '')) from++
  while (from < to && punctuation.has(text[to - 1] ?? '')) to--
  return text.slice(from, to)
}
