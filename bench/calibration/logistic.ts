/** An example: the features of a memory, and whether it answers. */
export interface Example {
  readonly features: readonly number[]
  readonly answers: boolean
  /** How often it counts; once by default. */
  readonly times?: number
}

export interface Fitted {
  readonly bias: number
  readonly weights: readonly number[]
}

const steps = 400
const rate = 0.5

/**
 * Fits a logistic regression by accelerated gradient descent on standardised features.
 *
 * @param scales a smaller number for a feature makes large weights of it less likely.
 */
export function fittedTo(
  examples: readonly Example[],
  { scales = [], ridge = 1e-4 }: { readonly scales?: readonly number[]; readonly ridge?: number } = {},
): Fitted {
  const width = examples[0]?.features.length ?? 0
  const all = examples.reduce((sum, { times = 1 }) => sum + times, 0)
  const mean = (of: (features: readonly number[]) => number): number =>
    examples.reduce((sum, { features, times = 1 }) => sum + times * of(features), 0) / all
  const means = columns(width, (at) => mean((features) => features[at] ?? 0))
  const spreads = columns(width, (at) => {
    const square = mean((features) => ((features[at] ?? 0) - (means[at] ?? 0)) ** 2)
    return (Math.sqrt(square) || 1) / (scales[at] ?? 1)
  })
  const rows = examples.map(({ features }) =>
    Float64Array.from(features, (x, at) => (x - (means[at] ?? 0)) / (spreads[at] ?? 1)),
  )
  let [weights, velocity, bias, biasVelocity] = [columns(width, () => 0), columns(width, () => 0), 0, 0]
  for (let step = 0; step < steps; step++) {
    const slopes = new Float64Array(width + 1)
    for (const [at, row] of rows.entries()) {
      const miss = (sigmoid(dot(row, weights) + bias) - Number(examples[at]?.answers)) * (examples[at]?.times ?? 1)
      for (let column = 0; column < width; column++) slopes[column] = (slopes[column] ?? 0) + miss * (row[column] ?? 0)
      slopes[width] = (slopes[width] ?? 0) + miss
    }
    const slope = (at: number): number => (slopes[at] ?? 0) / all
    velocity = velocity.map((each, at) => 0.9 * each - rate * (slope(at) + ridge * (weights[at] ?? 0)))
    biasVelocity = 0.9 * biasVelocity - rate * slope(width)
    weights = weights.map((each, at) => each + (velocity[at] ?? 0))
    bias += biasVelocity
  }
  const scaled = weights.map((each, at) => each / (spreads[at] ?? 1))
  return { bias: bias - dot(scaled, means), weights: scaled }
}

export const logitOf = ({ bias, weights }: Fitted, features: readonly number[]): number => bias + dot(weights, features)

const columns = (width: number, of: (at: number) => number): number[] =>
  Array.from({ length: width }, (_, at) => of(at))
function dot(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0)
  return sum
}
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))
