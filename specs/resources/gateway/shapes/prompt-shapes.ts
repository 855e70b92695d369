import {
  array,
  described,
  type Infer,
  integer,
  jsonObject,
  number,
  object,
  oneOf,
  optional,
  record,
  type Schema,
  string,
  union,
} from '#specs/dsl/schema.ts'

/** Maximum number of characters of the messages of a version. */
export const maxTemplateChars = 200_000

/** A version number: `1`, `2` … */
export const promptVersion = string({
  pattern: '^[1-9]\\d{0,5}$',
  description: 'Number of the version, as text: `1`, `2` …',
})

/** What a version of a prompt contains. */
export const promptTemplate = {
  messages: described(
    array(
      object({
        role: oneOf('system', 'developer', 'user', 'assistant'),
        content: string({ minLength: 1, maxLength: maxTemplateChars }),
      }),
      { minItems: 1, maxItems: 64 },
    ),
    'Messages before those of the request. `{{name}}` in a text is replaced by the variable of that name.',
  ),
  variables: described(
    optional(record(string({ maxLength: 10_000 }), { maxProperties: 64 })),
    'Default values of variables, by name. A variable without one must be given by each request.',
  ),
  model: described(
    optional(string({ minLength: 1, maxLength: 256 })),
    'Model of responses that name none. Other calls name their model themselves.',
  ),
  temperature: described(optional(number({ min: 0, max: 2 })), 'Sampling temperature of calls that set none.'),
  top_p: described(optional(number({ min: 0, max: 1 })), 'Nucleus sampling of calls that set none.'),
  max_output_tokens: described(
    optional(integer({ min: 1 })),
    'Maximum number of tokens of the answers of calls that set none.',
  ),
}

const reference = <V extends Schema<unknown>>(values: V, description: string) => ({
  id: string({ minLength: 1, maxLength: 128, description: 'Id of the prompt.' }),
  version: described(optional(promptVersion), 'Default: the default version of the prompt.'),
  variables: described(optional(record(values, { maxProperties: 64 })), description),
})

const text = string({ maxLength: 1_000_000 })

/** A stored prompt that a model call uses, as in OpenAI's Responses API. */
export const promptField = object(
  reference(
    union([text, jsonObject()]),
    'Values of the variables: texts, or for messages of users content parts such as `input_image`.',
  ),
  {
    title: 'PromptReference',
    description:
      'A stored prompt, whose messages precede those of the request. Its settings apply to what the request leaves out; a model only to responses.',
  },
)

/** A stored prompt in the config of an agent. */
export const agentPrompt = object(reference(text, 'Values of the variables.'), { title: 'AgentPrompt' })

/** The `prompt` of a request. */
export type PromptReference = Infer<typeof promptField>
