import { actorPrefixes } from './actor-ids.ts'
import { callApi } from './api.ts'
import { machineName } from './format.ts'

/** Times in ms after which names are read again: a session is named by its first message, which may follow. */
const freshMs = { named: 60_000, unnamed: 3_000 }
/** Most ids of one read (`observation.names`). */
const maxIds = 100

type Name = Readonly<{ name: string | null; state: string | null; at: number }>

/** By ids, which are unique over projects. */
const known: Map<string, Name> = new Map()

const anId = /\b(?:agt|ten|whk|kb|pmpt|skl|grl|pvc|key|usr|[a-z]{3,5})_[0-9a-z]{26}\b/g

/**
 * Reads the names of all ids that occur in data of a page, so that it can show them by `nameOf`. A page is not held up
 * by names that cannot be read.
 *
 * @returns the same data
 */
export const withNames = async <Data>(project: string, data: Data): Promise<Data> => {
  const ids = new Set(JSON.stringify(data ?? null).match(anId))
  const now = Date.now()
  const wanted = [...ids].filter((id) => isStale(known.get(id), now))
  const parts = Array.from({ length: Math.ceil(wanted.length / maxIds) }, (_, at) =>
    wanted.slice(at * maxIds, (at + 1) * maxIds),
  )
  const reads = parts.map((part) => callApi(project, 'observation.names', { query: { ids: part.join(',') } }))
  for (const id of wanted) known.set(id, { name: null, state: null, ...known.get(id), at: now })
  for (const read of await Promise.allSettled(reads))
    for (const { id, name, state } of read.status === 'fulfilled' ? read.value.data : [])
      known.set(id, { name, state, at: now })
  return data
}

const isStale = (name: Name | undefined, now: number) =>
  name === undefined || name.at < now - (name.name ? freshMs.named : freshMs.unnamed)

/** The name of what has this id, or the id while the name is unknown. */
export const nameOf = (id: string) => known.get(id)?.name ?? id

/**
 * What people read in place of the id of an actor: what it is about, else its machine with the end of the id, by which
 * two of them differ.
 */
export const titleOf = (id: string, label: string | null = null) => {
  const name = label ?? known.get(id)?.name
  if (name) return name
  const machine = actorPrefixes[id.slice(0, id.lastIndexOf('_'))]
  return machine === undefined ? id : `${machineName(machine)} …${id.slice(-5)}`
}
