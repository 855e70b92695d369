import type { RedisServices } from '#storage/redis/open-redis.ts'
import { answersContract, testedBytes } from '../contract/answers.ts'
import { fanOutContract } from '../contract/fan-out.ts'
import { limitsContract } from '../contract/limits.ts'
import { presenceContract } from '../contract/presence.ts'
import { turnsContract } from '../contract/turns.ts'
import { openOn, type RedisAt } from './opening.ts'

/** Every port of Redis keeps its contract over these servers. */
export const redisContracts = (name: string, at: () => RedisAt): void => {
  const several = async (installation: string, count: number) => {
    const opened = await Promise.all(
      Array.from({ length: count }, () => openOn(at(), installation, { answerBytes: testedBytes })),
    )
    const close = async () => void (await Promise.all(opened.map((redis) => redis.close())))
    return { opened, close }
  }
  const two = async <Part extends keyof RedisServices>(part: Part) => {
    const { opened, close } = await several(part, 2)
    const [mine, theirs] = opened.map((each) => each[part])
    if (mine === undefined || theirs === undefined) throw new Error('two were opened')
    return { mine, theirs, close }
  }
  presenceContract(name, () => two('presence'))
  fanOutContract(name, () => two('fanOut'))
  limitsContract(name, async () => {
    const { opened, close } = await several('limits', 3)
    return { views: opened.map(({ limits }) => limits), close }
  })
  answersContract(name, async () => {
    const { opened, close } = await several('answers', 3)
    return { views: opened.map(({ answers }) => answers), close }
  })
  turnsContract(name, async () => {
    const { opened, close } = await several('turns', 3)
    return { views: opened.map(({ turns }) => turns), close }
  })
}
