import { describe, expect, it } from 'vitest'
import { conditionOf, refersBack, seeksAdvice, statementKindOf } from '#retrieval/analysis/statement-kind.ts'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { found, passage, question } from './passages.ts'

const conversation = [
  'I booked a flight to Lisbon for the conference in June',
  'My flight from the conference was late by three hours',
  'The flight to the conference cost me 300 dollars, and the hotel was cheap',
  'We talked on the flight about a conference of next year',
  'Is there a flight on the day before the conference?',
  'My sister took another flight to the conference',
  'The seat on the flight to the conference cost 40 dollars',
]

const indexOf = (...texts: readonly string[]): PassageIndex => {
  const index = new PassageIndex('memory')
  for (const text of texts) index.add(passage(text))
  return index
}

const placeOf = async (text: string, request: string): Promise<number> =>
  (await found(indexOf(...conversation, text), question(request))).indexOf(text)

describe('the stance of a memory', () => {
  it.each([
    ['Always name the price in euros when I ask about a flight.', 'instruction'],
    ['When I ask for code, include the types.', 'instruction'],
    ['From now on answer in French.', 'instruction'],
    ['I always loved the sea.', null],
    ['I prefer a seat at the window.', 'preference'],
    ['The seat was at the window.', null],
    ['Thanks! I prefer the seat at the window.', 'reply'],
    ['Thankfully the seat was at the window.', null],
    ['Sure, when I ask for a seat always name the price.', 'instruction'],
    ['', null],
    [`${'x '.repeat(400)} I prefer tea`, null],
  ])('is recognised in "%s"', (text, stance) => {
    expect(statementKindOf(text)).toBe(stance)
  })

  it.each([
    ['Which flight should I take?', true],
    ['Can you suggest a hotel?', true],
    ['When did I land?', false],
  ])('of a preference applies when a question looks for advice: "%s"', (text, seeks) => {
    expect(seeksAdvice(text)).toBe(seeks)
  })

  it.each([
    ['Always name the price when I ask about a flight to the sea. Thanks.', 'about a flight to the sea'],
    ['When I ask for code, include the types.', 'for code, include the types'],
    ['From now on answer in French.', ''],
  ])('applies to the requests that it names: "%s"', (text, about) => {
    expect(conditionOf(text)).toBe(about)
  })

  it.each([
    ['What did we discuss in our conversations about flights?', true],
    ['Did I ever take a flight to Lisbon?', true],
    ['Summarise the plans for the conference.', true],
    ['Which flight should I take to the conference?', false],
    ['What does a flight cost?', false],
  ])('does not apply when a question looks back: "%s" does: %s', (text, looks) => {
    expect(refersBack(text)).toBe(looks)
  })

  it('ranks a matching instruction among the first, before one with more words of the question', async () => {
    const one = 'Always name the cost of a conference, a seat and a hotel when I ask about ships.'
    const other = 'Always use euros when I ask about a flight.'
    const index = indexOf(...conversation, one, other)
    const hits = await found(index, question('What does a flight to a conference cost?', { limit: 9 }))
    expect(hits.slice(0, 2)).toContain(other)
  })

  it('does not raise instructions or preferences for a question about earlier statements', async () => {
    const instruction = 'Always name the price in euros when I ask about a flight.'
    const preference = 'I prefer a seat at the window, and an early flight'
    expect(await placeOf(instruction, 'Which flight did I take to the conference in June?')).toBe(-1)
    expect(
      await placeOf(preference, 'Can you say what the seat on the flight to the conference cost, and did I pay?'),
    ).not.toBe(0)
  })

  it('ranks earlier statements above replies for a question about earlier statements', async () => {
    const [said, reply] = [
      'The hotel was booked with the flight, near the sea',
      'Thanks, the hotel with the flight it is!',
    ]
    const index = indexOf(reply, said, ...conversation)
    const hits = await found(index, question('Did I say which hotel was booked with the flight?', { limit: 9 }))
    expect(hits.indexOf(said)).toBe(0)
    const plain = await found(index, question('hotel with the flight', { limit: 9 }))
    expect(plain).toContain(reply)
  })

  it('ranks the closest instruction among the first for a matching request', async () => {
    const instruction = 'Always name the price in euros when I ask about anything that flies.'
    const plain = 'Anna names the price in euros for anything that flies.'
    const request = 'What does a flight to the conference cost in euros?'
    expect(await placeOf(instruction, request)).toBeGreaterThanOrEqual(0)
    expect(await placeOf(instruction, request)).toBeLessThan(3)
    expect(await placeOf(plain, request)).not.toBe(0)
  })

  it('does not raise an instruction without a word of the question', async () => {
    expect(await placeOf('Always use metres when I ask about ships.', 'conference in Lisbon?')).toBe(-1)
  })

  it('ranks a preference first for advice only', async () => {
    const preference = 'I prefer a seat at the window, and an early flight'
    expect(await placeOf(preference, 'Can you suggest a seat on the flight to the conference?')).toBe(0)
    expect(await placeOf(preference, 'What did the seat on the flight to the conference cost?')).not.toBe(0)
  })

  it('is removed with its passage', async () => {
    const index = indexOf(...conversation)
    const instruction = 'Always name the price in euros when I ask about a flight.'
    index.add(passage(instruction))
    index.remove(instruction)
    index.add(passage('a conference flight of mine'))
    expect(await found(index, question('flight to the conference in euros', { limit: 9 }))).not.toContain(instruction)
  })

  it('does not apply to passages of documents', async () => {
    const of = async (text: string) => {
      const index = new PassageIndex('document')
      for (const each of [...conversation, text]) index.add(passage(each, { id: each === text ? 'x' : each }))
      const { hits } = await index.search(question('price of a flight in euros', { limit: 9 }))
      return hits.find(({ id }) => id === 'x')?.score
    }
    expect(await of('Always price euros when I ask flight')).toBe(await of('Ask price euros when I always flight'))
  })
})

describe('neighbours of a passage with the words', () => {
  const inGroup = (texts: readonly string[]): PassageIndex => {
    const index = new PassageIndex('memory')
    for (const [order, text] of texts.entries()) index.add(passage(text, { group: 'g', order }))
    return index
  }
  const shareOfNeighbour = async (length: number): Promise<number> => {
    const filler = (at: number) => Array.from({ length }, (_, n) => `word${at}x${n}`).join(' ')
    const texts = [`kayak ${filler(0)}`, `yes ${filler(1)}`, filler(2), filler(3)]
    const { hits } = await inGroup(texts).search(question('kayak', { limit: 4, explain: true }))
    return hits.find(({ id }) => id === texts[1])?.parts?.rank ?? 0
  }

  it('score lower the longer the passages are', async () => {
    const [short, long] = [await shareOfNeighbour(5), await shareOfNeighbour(120)]
    expect(short).toBeGreaterThan(long)
    expect(long).toBeGreaterThan(0)
  })
})
