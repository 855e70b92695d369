import { describe, expect, it } from 'vitest'
import { PassageIndex } from '#retrieval/passage-index.ts'
import { found, passage, question } from './passages.ts'

const indexOf = (...texts: readonly string[]): PassageIndex => {
  const index = new PassageIndex('memory')
  for (const text of texts) index.add(passage(text))
  return index
}

const unit = (...numbers: readonly number[]): Float32Array => Float32Array.from(numbers)

describe('a passage index', () => {
  it('finds a passage by other forms of its words', async () => {
    const index = indexOf('Ann is painting houses', 'Bob sails', 'Cleo cooks rice')
    expect(await found(index, question('Who paints a house?'))).toEqual(['Ann is painting houses'])
  })

  it('ends a search that is not waited for any more', async () => {
    const index = indexOf('Ann is painting houses')
    const signal = AbortSignal.abort(new Error('it left'))
    await expect(index.search({ ...question('Who paints a house?'), signal })).rejects.toThrow('it left')
    expect(await found(index, question('Who paints a house?'))).toEqual(['Ann is painting houses'])
  })

  it('ranks a passage with more words of the question first', async () => {
    const index = indexOf('the red car', 'the red bicycle of Ann', 'a bicycle')
    expect((await found(index, question('red bicycle')))[0]).toBe('the red bicycle of Ann')
  })

  it.each([
    ['says that it changed', 'Alexis and I increased the grocery budget for household food to 550 dollars', true],
    ['is of something else', 'Alexis and I changed the plan of our travel to Oslo this summer', false],
    ['says of no change', 'Alexis and I have a grocery budget for household food of 550 dollars', false],
  ])('ranks a newer passage above an older one with more words only when it %s', async (_, newer, first) => {
    const older = 'Alexis and I agreed on a grocery budget for household food of 500 dollars'
    const rest = ['the weather is fine', 'we agreed on a walk by the sea', 'the cat sleeps all day'].map((text) =>
      passage(text),
    )
    const index = new PassageIndex('memory')
    for (const each of [passage(older, { at: 1 }), passage(newer, { at: 2 }), ...rest]) index.add(each)
    const ids = await found(
      index,
      question('What grocery budget for household food have Alexis and I agreed on?', { limit: 2 }),
    )
    expect(ids[0] === newer).toBe(first)
  })

  it.each([
    ['one character', '附近有哪条河？', '商学院位于查尔斯河对面'],
    ['two', '首都在哪里？', '他们的首都是北京'],
    ['digits of full width', '１９６６', 'Merit成立于1966年'],
  ])('finds a Chinese word of %s within a longer text', async (_, text, answer) => {
    const index = indexOf(answer, '图书馆每天开门', '我们的老师喜欢喝茶')
    expect((await found(index, question(text)))[0]).toBe(answer)
  })

  it('finds nothing for Chinese particles alone', async () => {
    expect(await found(indexOf('我们的老师喜欢喝茶'), question('他的谁？'))).toEqual([])
  })

  it('abstains when no passage has a word of the question', async () => {
    expect(await indexOf('Ann sails').search(question('zeppelin'))).toEqual({ hits: [], abstained: true })
  })

  it('abstains when it is empty', async () => {
    expect(await new PassageIndex('document').search(question('anything'))).toEqual({ hits: [], abstained: true })
  })

  it('replaces a passage that is added again', async () => {
    const index = new PassageIndex('memory')
    index.add(passage('likes tea', { id: 'a' }))
    index.add(passage('likes coffee', { id: 'a' }))
    expect([index.size, await found(index, question('tea')), await found(index, question('coffee'))]).toEqual([
      1,
      [],
      ['a'],
    ])
  })

  it('does not find a passage that was removed', async () => {
    const index = indexOf('likes tea', 'likes coffee')
    index.remove('likes tea')
    expect([index.has('likes tea'), await found(index, question('tea'))]).toEqual([false, []])
  })

  it('finds the remaining passages after most were removed', async () => {
    const index = new PassageIndex('document')
    for (let at = 0; at < 3_000; at++) index.add(passage(`number${at} of the many things there are`))
    for (let at = 0; at < 2_900; at++) index.remove(`number${at} of the many things there are`)
    expect(index.size).toBe(100)
    expect((await found(index, question('number2950')))[0]).toBe('number2950 of the many things there are')
  })

  it('finds only accepted passages, and ranks them independently of the others', async () => {
    const index = indexOf('tea with milk', 'tea', 'milk')
    const accepts = (id: string): boolean => id === 'milk'
    expect(await found(index, question('tea with milk', { accepts }))).toEqual(['milk'])
  })

  it('finds a passage without a common word by its vector', async () => {
    const index = new PassageIndex('memory')
    index.add(passage('Ann owns a canine', { vector: unit(1, 0.1) }))
    index.add(passage('Bob sails', { vector: unit(0, 1) }))
    expect((await found(index, question('dog', { vector: unit(1, 0) })))[0]).toBe('Ann owns a canine')
  })

  it.each([
    ['another dimension', unit(1, 2, 3)],
    ['no number', unit(Number.NaN, 1)],
    ['no length', unit(0, 0)],
    ['no dimension', unit()],
  ])('ignores a vector of %s', async (_, vector) => {
    const index = new PassageIndex('memory')
    index.add(passage('tea', { vector: unit(1, 0) }))
    index.add(passage('milk', { vector }))
    expect(await found(index, question('milk', { vector }))).toEqual(['milk'])
    expect(await found(index, question('tea', { vector }))).toEqual(['tea'])
  })

  it('ranks the statement of the person first whom the question names', async () => {
    const index = new PassageIndex('memory')
    index.add(passage('I adopted a dog', { id: 'bob', speaker: 'Bob' }))
    index.add(passage('I adopted a dog', { id: 'ann', speaker: 'Ann' }))
    expect((await found(index, question('What did Ann adopt?')))[0]).toBe('ann')
  })

  it('prefers a statement from the time that the question names', async () => {
    const index = new PassageIndex('memory')
    index.add(passage('We went sailing', { id: 'march', at: Date.UTC(2024, 2, 10) }))
    index.add(passage('We went sailing', { id: 'june', at: Date.UTC(2024, 5, 10) }))
    expect((await found(index, question('Who went sailing in June 2024?')))[0]).toBe('june')
  })

  it('finds the neighbour of a passage with the words', async () => {
    const index = new PassageIndex('memory')
    index.add(passage('What instrument do you play?', { group: 's', order: 1 }))
    index.add(passage('The violin.', { group: 's', order: 2 }))
    index.add(passage('It rains.', { group: 's', order: 9 }))
    expect(await found(index, question('instrument'))).toContain('The violin.')
  })

  it('drops hits below the threshold and reports them', async () => {
    const answer = await indexOf('tea').search(
      question('tea zeppelin balloon airship', { threshold: 0.99, explain: true }),
    )
    expect(answer).toMatchObject({ hits: [], abstained: true, left_out: [{ id: 'tea', reason: 'below_threshold' }] })
  })

  it('explains the parts of a score and the hits beyond the limit', async () => {
    const answer = await indexOf('tea', 'tea and more').search(question('tea', { limit: 1, explain: true }))
    expect(answer.hits[0]?.parts).toMatchObject({ words_found: expect.closeTo(1), names_unseen: 0, rank: 1 })
    expect(answer.left_out).toMatchObject([{ id: 'tea and more', reason: 'beyond_limit' }])
  })

  it('reports its size, which decreases when passages are removed', () => {
    const index = indexOf(...Array.from({ length: 500 }, (_, at) => `the number ${at}`))
    const full = index.bytes
    for (let at = 0; at < 500; at++) index.remove(`the number ${at}`)
    expect(index.bytes).toBeLessThan(full)
  })
})

describe('an unusual text', () => {
  const strange: readonly (readonly [string, string])[] = [
    ['a megabyte', 'tea '.repeat(262_144)],
    ['100,000 words', Array.from({ length: 100_000 }, (_, at) => `w${at}`).join(' ')],
    ['lone surrogates', '\ud800 tea \udfff'],
    ['right-to-left marks', '\u202e aet \u202c tea'],
    ['NUL', '\0tea\0'],
    ['nothing', ''],
    ['spaces', ' \n\t '],
    ['signs', '?!.,;:()[]{}"\'*'],
    ['stop words only', 'what is the of and'],
    ['one letter many times', 'y'.repeat(100_000)],
    ['marks', `a${'\u0301'.repeat(50_000)}`],
  ]
  it.each(strange)('of %s is answered as a question', async (_, text) => {
    const index = indexOf('tea', 'milk')
    expect((await index.search(question(text))).hits.length).toBeLessThanOrEqual(2)
  })

  it.each(strange)('of %s is accepted as a passage', async (_, text) => {
    const index = indexOf('tea')
    index.add(passage(text, { id: 'strange', speaker: text, group: text, heading: text }))
    index.remove('strange')
    expect(await found(index, question('tea'))).toEqual(['tea'])
  })
})
