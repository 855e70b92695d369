import type { Commit, JsonObject, LogEvent, Storage } from '#storage/ports.ts'

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
