import { ServiceError } from '#specs/errors/errors.ts'
import type { PromptReference } from '#specs/resources/gateway/shapes/prompt-shapes.ts'
import { projectScope, type RecordStore, type Scope } from '#storage/index.ts'
import { orNotFound } from '../call/not-found.ts'
import type { FilledPrompt, PromptService } from '../capability/prompt-service.ts'
import type { Row } from '../records/schema.ts'
import { type Change, Table } from '../records/table.ts'
import { filledMessages } from './filled-messages.ts'
import { type PromptData, type PromptVersionData, promptKind } from './kinds.ts'

/** Reads prompts and changes their versions. */
export class StoredPrompts implements PromptService {
  readonly #table: Table<PromptData>

  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, promptKind, now)
  }

  /** @throws {ServiceError} `not_found` */
  async find({ project }: Pick<Scope, 'project'>, id: string): Promise<Row<PromptData>> {
    return orNotFound(await this.#table.get(projectScope(project), id), 'prompt_id')
  }

  /** @throws {ServiceError} `not_found`, and what the change throws. */
  async change({ project }: Pick<Scope, 'project'>, id: string, change: Change<PromptData>): Promise<Row<PromptData>> {
    return orNotFound(await this.#table.change(projectScope(project), id, change), 'prompt_id')
  }

  async filled(project: string, reference: PromptReference): Promise<FilledPrompt> {
    const row = await this.#table.get(projectScope(project), reference.id)
    if (row === null) {
      const message = `There is no prompt with the id '${reference.id}'.`
      throw new ServiceError('not_found', { param: 'prompt.id', message })
    }
    const { number, template } = chosenVersion(row.data, reference.version)
    const { messages: _messages, variables: _variables, ...settings } = template
    return {
      reference: { ...reference, version: String(number) },
      messages: filledMessages(template, reference.variables),
      settings,
    }
  }
}

/**
 * Returns the version that a reference means.
 * @throws {ServiceError} `not_found` with `prompt.version` for an unknown one, and while there is none.
 */
const chosenVersion = (
  { versions, default_version }: Pick<PromptData, 'versions' | 'default_version'>,
  wanted: string | null = default_version,
): PromptVersionData => {
  const version = wanted === null ? versions.at(-1) : versionOf(versions, wanted)
  if (version !== undefined) return version
  const message = wanted === null ? 'The prompt has no version.' : `The prompt has no version ${wanted}.`
  throw new ServiceError('not_found', { param: 'prompt.version', message })
}

/** The version with this number, as text. */
export const versionOf = (versions: PromptData['versions'], number: string | null): PromptVersionData | undefined =>
  versions.find((each) => String(each.number) === number)
