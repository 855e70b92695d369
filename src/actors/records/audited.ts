import type { JsonObject } from '#storage/index.ts'
import { type AuditActor, actorOf, type Caller, changedFields } from './audit-note.ts'
import type { Notice } from './notices.ts'
import type { Row } from './schema.ts'
import type { NoticesOf } from './table.ts'

/** Builds audit log entries for what one caller does with resources of one type. */
export class Audited {
  readonly #by: AuditActor
  readonly #type: string
  readonly #project: string | undefined

  /** @param project the project of the log, for rows that do not belong to a project. */
  constructor(caller: Caller, type: string, project?: string) {
    this.#by = actorOf(caller)
    this.#type = type
    this.#project = project
  }

  /** Builds an entry with the action `<type>.<done>`. */
  line(done: string, id: string, changes: readonly string[] = []): Notice {
    return {
      kind: 'audit',
      action: `${this.#type}.${done}`,
      by: this.#by,
      resource: { type: this.#type, id },
      changes,
      ...(this.#project !== undefined && { project: this.#project }),
    }
  }

  /** Builds the entry of a change, with the names of the changed fields. */
  changed<T extends JsonObject>(done = 'updated'): NoticesOf<T> {
    return (next, before) => [this.line(done, next.id, changedFields(before.data, next.data))]
  }

  /** Builds the entry of a removal. */
  removed<T extends JsonObject>(done = 'deleted'): (row: Row<T>) => readonly Notice[] {
    return ({ id }) => [this.line(done, id)]
  }
}
