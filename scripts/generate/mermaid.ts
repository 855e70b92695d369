import type { Chart } from '#machines/definition.ts'
import { type ChartState, type ChartTransition, chartGraph } from '#runtime/inspect/chart-graph.ts'
import type { GeneratedFile } from './generated-file.ts'

/** `specs/machines/<name>.mmd`: the machine as a Mermaid state diagram. */
export const mermaidFile = ({ name, version, machine }: Chart): GeneratedFile => {
  const { states, transitions } = chartGraph(machine)
  const lines = [
    `%% ${name}@${version}, from src/machines by npm run generate`,
    'stateDiagram-v2',
    ...states.flatMap((state) => stateLines(state, transitions, '  ')),
    ...transitions.filter(({ from }) => !from.endsWith('@initial')).map((each) => `  ${wayLine(each)}`),
  ]
  return { path: `specs/machines/${name}.mmd`, text: `${lines.join('\n')}\n` }
}

/** Formats a state. The start of a region becomes an arrow from Mermaid's initial dot, inside the region. */
const stateLines = (
  { id, label, kind, states }: ChartState,
  transitions: readonly ChartTransition[],
  indent: string,
): readonly string[] => {
  if (kind === 'initial') {
    const first = transitions.find(({ from }) => from === id)
    return first === undefined ? [] : [`${indent}[*] --> ${nameOf(first.to)}`]
  }
  const head = `${indent}state "${label}" as ${nameOf(id)}`
  const end = kind === 'final' ? [`${indent}${nameOf(id)} --> [*]`] : []
  if (states.length === 0) return [head, ...end]
  return [`${head} {`, ...states.flatMap((state) => stateLines(state, transitions, `${indent}  `)), `${indent}}`]
}

const wayLine = ({ from, to, labels }: ChartTransition): string =>
  `${nameOf(from)} --> ${nameOf(to)}${labels.length === 0 ? '' : ` : ${labels.join(', ')}`}`

/** Mermaid takes neither dots nor `@` in names. */
const nameOf = (path: string): string => path.replaceAll('.', '__').replace('@any', 'any_state')
