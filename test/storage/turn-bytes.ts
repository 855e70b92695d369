import { joined } from '#storage/pieces.ts'
import type { Commit, CommitKey, JsonObject, LogEvent, Storage } from '#storage/ports.ts'

const [sessions, turns, deltas] = [10, 10, 60]
const delta = 'as long as 25 ms of text are '

/** A turn of a session as it is stored some time after its end. */
const turnOf = (actor: string, turn: number): readonly Commit[] => {
  const firstSeq = (turn - 1) * (deltas + 2) + 1
  const effect = `${actor}:${firstSeq}:0`
  const flight = { name: 'callModel', params: { turn, step: 1 }, policy: 'stream' } as const
  const last = deltas + 1
  return Array.from({ length: deltas + 2 }, (_, index): Commit => {
    const payload: JsonObject =
      index === 0
        ? { turn_number: turn, model: 'a-model', input_text: 'How long is a piece of string?' }
        : index === last
          ? { turn_number: turn, output: delta.repeat(deltas), usage: { input_tokens: 512, output_tokens: 420 } }
          : { delta }
    const names = { 0: 'turn.started', [last]: 'turn.completed' }
    const sequence = firstSeq + index
    const events: LogEvent[] = [
      { sequence, event_type: names[index] ?? 'output_text.delta', turn_number: turn, payload },
    ]
    return {
      ...{ actor, seq: sequence, shard: 7, epoch: 3, at: 1_795_355_772_184 + sequence * 25 },
      ...{
        project: 'prj_01m81qnt8pmmfn9je3sms7fs3y',
        tenant: null,
        machine: 'session@1',
        nonce: `hJ3kd93j.${sequence}`,
      },
      cause: index === 0 ? `req_${actor}.${turn}` : index === last ? `${effect}#done` : `${effect}#${index}`,
      event: { type: index === 0 ? 'turn' : index === last ? 'model_answered' : 'model_delta' },
      ...{ events, last_sequence: sequence },
      effects: index === 0 ? [{ id: effect, ...flight }] : [],
      messages: [],
      reminders: {},
      in_flight: index === last ? {} : { [effect]: { ...flight, progress: index } },
      ...{ open: false, due: null },
    }
  })
}

/** Bytes of the events of all turns as JSON. */
export const eventBytes = async ({ commits }: Storage): Promise<number> => {
  let bytes = 0
  for (const actor of actors) {
    for (const { at: _, ...event } of await commits.events(actor, 0, 100_000)) bytes += JSON.stringify(event).length
  }
  return bytes
}

const actors = Array.from({ length: sessions }, (_, n) => `ses_01m81rp18r05zt8021k774zz${String(n).padStart(2, '0')}`)

/** Writes sessions with concurrent turns of 60 deltas. */
export const writeTurns = async ({ commits }: Storage): Promise<void> => {
  for (let turn = 1; turn <= turns; turn++) {
    const each = actors.map((actor) => turnOf(actor, turn))
    const inTurns = Array.from({ length: deltas + 2 }, (_, index) => each.flatMap((list) => list[index] ?? []))
    await commits.append(inTurns.flat())
  }
}

/** Merges the deltas of every turn. */
export const mergeTurns = async ({ commits }: Storage): Promise<void> => {
  for (const actor of actors) {
    for (let turn = 1; turn <= turns; turn++) {
      const after = (turn - 1) * (deltas + 2) + 1
      await commits.merge({ actor, effect: `${actor}:${after}:0`, after, before: after + deltas + 1, epoch: 3 })
    }
  }
}

/** Removes every session. */
export const removeTurns = async ({ commits }: Storage): Promise<void> => {
  for (const actor of actors) await commits.forget(actor)
}

const words = ['the', ' answer', ' of', ' a', ' model', ' in', ' words', ',']
const [seconds, tokensInOne] = [8, 80]

/** The text of a turn of `writeStreamedTurns`: 640 tokens. */
export const turnText = Array.from({ length: seconds * tokensInOne }, (_, n) => words[n % words.length]).join('')

/** The text of one second, as one event with the lengths of its pieces. */
const partOf = (second: number): LogEvent => {
  const pieces = Array.from({ length: tokensInOne }, (_, n) => words[(second * tokensInOne + n) % words.length] ?? '')
  return {
    ...{ sequence: 1 + (second + 1) * tokensInOne, event_type: 'output_text.delta', turn_number: 1 },
    ...{ payload: { delta: pieces.join('') }, cuts: pieces.map(({ length }) => length) },
  }
}

/** Writes sessions with one turn each, as the runtime does: a commit a second, and a last one that replaces them. */
export const writeStreamedTurns = async ({ commits }: Storage, count: number): Promise<void> => {
  const ids = Array.from({ length: count }, (_, n) => `ses_01m81rp18r05zt8021k774${String(n).padStart(4, '0')}`)
  const each = ids.map((actor) => streamedTurn(actor))
  for (let index = 0; index < seconds + 3; index++) await commits.append(each.flatMap((list) => list[index] ?? []))
  const keys = (seq: number): readonly CommitKey[] => ids.map((actor) => ({ actor, seq }))
  await commits.settle({ close: keys(seconds + 3), undue: [], retire: [...keys(1), ...keys(2)] })
}

const streamedTurn = (actor: string): readonly Commit[] => {
  const first = turnOf(actor, 1)
  const [started, part, end] = [first[0], first[1], first.at(-1)]
  if (started === undefined || part === undefined || end === undefined) throw new Error('a turn has parts')
  const snapshot = { value: { active: 'idle' }, context: { session_id: actor, turn: 1, model: 'a-model' } }
  const at = (second: number): number => started.at + second * 1000
  const parts = Array.from({ length: seconds }, (_, second): Commit => {
    const event = partOf(second)
    const seq = second + 3
    return {
      ...{ ...part, seq, at: at(second + 1), snapshot, open: true, nonce: `${part.nonce}.${seq}` },
      ...{ cause: `${actor}:2:0#${event.sequence}`, events: [event], last_sequence: event.sequence },
    }
  })
  const carried = parts.flatMap(({ at, events }) => events.map((event) => ({ at, ...event })))
  const sequence = 2 + seconds * tokensInOne
  const payload = { turn_number: 1, output: turnText, usage: { input_tokens: 512, output_tokens: 640 } }
  const completed = { at: at(seconds), sequence, event_type: 'turn.completed', turn_number: 1, payload }
  return [
    {
      ...started,
      seq: 1,
      cause: `create_${actor}`,
      events: [],
      effects: [],
      in_flight: {},
      last_sequence: 0,
      snapshot,
    },
    { ...started, seq: 2, snapshot, open: true },
    ...parts,
    {
      ...{ ...end, seq: seconds + 3, at: at(seconds), snapshot, open: true, cause: `${actor}:2:0#done` },
      ...{ events: joined([...carried, completed]), replaces: seconds, last_sequence: sequence },
    },
  ]
}
