import { schemaFaults } from '#gateway/guardrails/worker/checks-in-worker.ts'
import { actionDefinition } from '#machines/action/action-definition.ts'
import { contextOf } from '#runtime/index.ts'
import type { Resident } from '#runtime/internal.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import type { JsonObject } from '#storage/index.ts'
import { editedArguments } from '../argument-edits.ts'
import { type TurnConfigs, toolName } from '../turns/turn-config.ts'
import { modelTool } from './model-tool.ts'

/**
 * Returns the edited arguments of an approval, as a field of its event. They have to fit the parameters that the tool
 * declares, as a person may mistype what a model would not.
 *
 * @throws {ServiceError} `invalid_field`
 */
export const editsOf = async (
  configs: Pick<TurnConfigs, 'read'>,
  action: Resident,
  edited: JsonObject | undefined,
): Promise<{ readonly arguments?: string }> => {
  if (edited === undefined) return {}
  const { arguments: proposed, tool, config } = contextOf(actionDefinition, action.state.snapshot)
  const text = editedArguments(edited, proposed)
  if (text === proposed) return {}
  const { project } = action.owner
  const declared = (await configs.read(project, config)).tools.find((each) => toolName(each) === tool)
  if (declared !== undefined)
    await requireFit(JSON.parse(JSON.stringify(modelTool(declared).parameters)), text, project)
  return { arguments: text }
}

const requireFit = async (schema: JsonObject, text: string, project: string): Promise<void> => {
  // a schema that cannot be read or takes too long must not keep a person from deciding: the tool checks as well
  const [fault] = await schemaFaults(schema, text, project).catch(() => [])
  if (fault === undefined) return
  const [place, wrong] = fault
  const path = place.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
  throw invalidField(`arguments${path.join('.')}`, `The tool does not accept it: it ${wrong}.`)
}
