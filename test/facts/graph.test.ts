import { describe, expect, it } from 'vitest'
import { factsOf } from '#facts/facts-of.ts'
import { graphOf, maxNodes } from '#facts/graph.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

const read = (text: string) => atOnce(factsOf(text, { observedAt: 0, speaker: 'user' }))
const graph = (text: string) => graphOf(read(text))

const people = ['Anna', 'Ben', 'Clara', 'Dario', 'Edda', 'Farid', 'Greta', 'Hugo', 'Ines', 'Jonas']
const companies = ['Globex', 'Initech', 'Hooli', 'Umbrella Labs', 'Acme Robotics']
const cities = ['Lisbon', 'Oslo', 'Graz', 'Leeds', 'Porto']

/** A made-up town: the connections between people, companies and cities, in several phrasings. */
const town = [
  ...people.map(
    (name, at) =>
      [
        name,
        companies[at % 5] ?? '',
        ['works at', 'is employed by', 'joined', 'founded', 'invested in'][at % 5] ?? '',
      ] as const,
  ),
  ...people
    .slice(1)
    .map(
      (name, at) =>
        [
          name,
          people[at] ?? '',
          ['mentored', 'is married to', 'reports to', 'plays tennis with', 'is a cousin of'][at % 5] ?? '',
        ] as const,
    ),
  ...companies.map(
    (name, at) =>
      [
        name,
        cities[at] ?? '',
        ['is based in', 'is headquartered in', 'has its office in', 'is located in', 'was founded in'][at] ?? '',
      ] as const,
  ),
]
const text = town.map(([source, target, words]) => `${source} ${words} ${target}.`).join('\n')
const share = (results: readonly boolean[]): number => results.filter(Boolean).length / results.length

describe('the graph of facts extracted without a model', () => {
  const drawn = graph(text)
  const reaches = (from: string, to: string, hops: number): boolean =>
    drawn.traverse(from, hops).nodes.some(({ name }) => name === to)

  it('connects at least 95% of the pairs of one sentence in one hop', () => {
    const found = share(town.map(([source, target]) => reaches(source, target, 1)))
    if (process.env.SHOW === '1')
      console.log(
        '1 hop',
        found,
        town.filter(([a, b]) => !reaches(a, b, 1)),
      )
    expect(found).toBeGreaterThanOrEqual(0.95)
  })

  it('connects at least 90% of the pairs of two sentences in two hops', () => {
    const pairs = town.flatMap(([source, middle]) =>
      town.filter(([other]) => other === middle).map(([, target]) => [source, target] as const),
    )
    const found = share(pairs.map(([source, target]) => source === target || reaches(source, target, 2)))
    if (process.env.SHOW === '1') console.log('2 hops', found)
    expect(pairs.length).toBeGreaterThan(10)
    expect(found).toBeGreaterThanOrEqual(0.9)
  })

  it('returns the seed, nodes with hops and paths, and edges', () => {
    const walk = graph('Anna works at Globex. Globex is based in Oslo.').traverse('anna', 2)
    expect(walk).toEqual({
      seed: 'Anna',
      nodes: [
        { name: 'Globex', hops: 1, path: ['works_at'] },
        { name: 'Oslo', hops: 2, path: ['works_at', 'lives_in'] },
      ],
      edges: [
        { source: 'Anna', relation: 'works_at', target: 'Globex' },
        { source: 'Globex', relation: 'lives_in', target: 'Oslo' },
      ],
    })
  })

  it('connects a name to facts about the relative with that name', () => {
    const { nodes } = graph('My sister is Anna.\nMy sister lives in Oslo.').traverse('Anna', 1)
    expect(nodes.map(({ name }) => name).toSorted()).toEqual(['Oslo', 'user'])
  })

  it('finds known names in a question, whatever their case and accents', () => {
    expect(graph('Zoë works at Acme Robotics.').named('where does ZOE, of acme robotics, live?')).toEqual([
      'Acme Robotics',
      'Zoë',
    ])
  })

  it('returns the facts along the path, the nearest first', () => {
    const connected = graph('Anna works at Globex. Globex is based in Oslo.').connected('Anna', 2)
    expect(connected.map(({ fact, hops }) => `${hops} ${fact.object}`)).toEqual(['1 Globex', '2 Oslo'])
  })

  it('returns an empty walk for an unknown name', () => {
    expect(drawn.traverse('Stranger', 3)).toEqual({ seed: 'Stranger', nodes: [], edges: [] })
  })

  it('returns at most maxNodes nodes of a densely connected graph', () => {
    const facts = Array.from({ length: 400 }, (_, at) => `I met Person${at}.`).join('\n')
    const walk = graphOf(Array.from({ length: 5 }, (_, at) => read(facts.slice(at * 1000))).flat()).traverse(
      'Person1',
      9,
    )
    expect(walk.nodes.length).toBeLessThanOrEqual(maxNodes)
  })
})
