import { i as isStoreValidationError } from './store-errors.js';

/* oxlint-disable */
// Adapted from Alien Signals
// https://github.com/stackblitz/alien-signals/

let ReactiveFlags = /*#__PURE__*/function (ReactiveFlags) {
  ReactiveFlags[ReactiveFlags["None"] = 0] = "None";
  ReactiveFlags[ReactiveFlags["Mutable"] = 1] = "Mutable";
  ReactiveFlags[ReactiveFlags["Watching"] = 2] = "Watching";
  ReactiveFlags[ReactiveFlags["RecursedCheck"] = 4] = "RecursedCheck";
  ReactiveFlags[ReactiveFlags["Recursed"] = 8] = "Recursed";
  ReactiveFlags[ReactiveFlags["Dirty"] = 16] = "Dirty";
  ReactiveFlags[ReactiveFlags["Pending"] = 32] = "Pending";
  return ReactiveFlags;
}({});
function createReactiveSystem({
  update,
  notify,
  unwatched
}) {
  return {
    link,
    unlink,
    propagate,
    checkDirty,
    shallowPropagate
  };
  function link(dep, sub, version) {
    const prevDep = sub.depsTail;
    if (prevDep !== undefined && prevDep.dep === dep) {
      return;
    }
    const nextDep = prevDep !== undefined ? prevDep.nextDep : sub.deps;
    if (nextDep !== undefined && nextDep.dep === dep) {
      nextDep.version = version;
      sub.depsTail = nextDep;
      return;
    }
    const prevSub = dep.subsTail;
    if (prevSub !== undefined && prevSub.version === version && prevSub.sub === sub) {
      return;
    }
    const newLink = sub.depsTail = dep.subsTail = {
      version,
      dep,
      sub,
      prevDep,
      nextDep,
      prevSub,
      nextSub: undefined
    };
    if (nextDep !== undefined) {
      nextDep.prevDep = newLink;
    }
    if (prevDep !== undefined) {
      prevDep.nextDep = newLink;
    } else {
      sub.deps = newLink;
    }
    if (prevSub !== undefined) {
      prevSub.nextSub = newLink;
    } else {
      dep.subs = newLink;
    }
  }
  function unlink(link, sub = link.sub) {
    const dep = link.dep;
    const prevDep = link.prevDep;
    const nextDep = link.nextDep;
    const nextSub = link.nextSub;
    const prevSub = link.prevSub;
    if (nextDep !== undefined) {
      nextDep.prevDep = prevDep;
    } else {
      sub.depsTail = prevDep;
    }
    if (prevDep !== undefined) {
      prevDep.nextDep = nextDep;
    } else {
      sub.deps = nextDep;
    }
    if (nextSub !== undefined) {
      nextSub.prevSub = prevSub;
    } else {
      dep.subsTail = prevSub;
    }
    if (prevSub !== undefined) {
      prevSub.nextSub = nextSub;
    } else if ((dep.subs = nextSub) === undefined) {
      unwatched(dep);
    }
    return nextDep;
  }
  function propagate(link) {
    let next = link.nextSub;
    let stack;
    top: do {
      const sub = link.sub;
      let flags = sub.flags;
      if (!(flags & (ReactiveFlags.RecursedCheck | ReactiveFlags.Recursed | ReactiveFlags.Dirty | ReactiveFlags.Pending))) {
        sub.flags = flags | ReactiveFlags.Pending;
      } else if (!(flags & (ReactiveFlags.RecursedCheck | ReactiveFlags.Recursed))) {
        flags = ReactiveFlags.None;
      } else if (!(flags & ReactiveFlags.RecursedCheck)) {
        sub.flags = flags & ~ReactiveFlags.Recursed | ReactiveFlags.Pending;
      } else if (!(flags & (ReactiveFlags.Dirty | ReactiveFlags.Pending)) && isValidLink(link, sub)) {
        sub.flags = flags | (ReactiveFlags.Recursed | ReactiveFlags.Pending);
        flags &= ReactiveFlags.Mutable;
      } else {
        flags = ReactiveFlags.None;
      }
      if (flags & ReactiveFlags.Watching) {
        notify(sub);
      }
      if (flags & ReactiveFlags.Mutable) {
        const subSubs = sub.subs;
        if (subSubs !== undefined) {
          const nextSub = (link = subSubs).nextSub;
          if (nextSub !== undefined) {
            stack = {
              value: next,
              prev: stack
            };
            next = nextSub;
          }
          continue;
        }
      }
      if ((link = next) !== undefined) {
        next = link.nextSub;
        continue;
      }
      while (stack !== undefined) {
        link = stack.value;
        stack = stack.prev;
        if (link !== undefined) {
          next = link.nextSub;
          continue top;
        }
      }
      break;
    } while (true);
  }
  function checkDirty(link, sub) {
    let stack;
    let checkDepth = 0;
    let dirty = false;
    top: do {
      const dep = link.dep;
      const flags = dep.flags;
      if (sub.flags & ReactiveFlags.Dirty) {
        dirty = true;
      } else if ((flags & (ReactiveFlags.Mutable | ReactiveFlags.Dirty)) === (ReactiveFlags.Mutable | ReactiveFlags.Dirty)) {
        if (update(dep)) {
          const subs = dep.subs;
          if (subs.nextSub !== undefined) {
            shallowPropagate(subs);
          }
          dirty = true;
        }
      } else if ((flags & (ReactiveFlags.Mutable | ReactiveFlags.Pending)) === (ReactiveFlags.Mutable | ReactiveFlags.Pending)) {
        if (link.nextSub !== undefined || link.prevSub !== undefined) {
          stack = {
            value: link,
            prev: stack
          };
        }
        link = dep.deps;
        sub = dep;
        ++checkDepth;
        continue;
      }
      if (!dirty) {
        const nextDep = link.nextDep;
        if (nextDep !== undefined) {
          link = nextDep;
          continue;
        }
      }
      while (checkDepth--) {
        const firstSub = sub.subs;
        const hasMultipleSubs = firstSub.nextSub !== undefined;
        if (hasMultipleSubs) {
          link = stack.value;
          stack = stack.prev;
        } else {
          link = firstSub;
        }
        if (dirty) {
          if (update(sub)) {
            if (hasMultipleSubs) {
              shallowPropagate(firstSub);
            }
            sub = link.sub;
            continue;
          }
          dirty = false;
        } else {
          sub.flags &= ~ReactiveFlags.Pending;
        }
        sub = link.sub;
        const nextDep = link.nextDep;
        if (nextDep !== undefined) {
          link = nextDep;
          continue top;
        }
      }
      return dirty;
    } while (true);
  }
  function shallowPropagate(link) {
    do {
      const sub = link.sub;
      const flags = sub.flags;
      if ((flags & (ReactiveFlags.Pending | ReactiveFlags.Dirty)) === ReactiveFlags.Pending) {
        sub.flags = flags | ReactiveFlags.Dirty;
        if ((flags & (ReactiveFlags.Watching | ReactiveFlags.RecursedCheck)) === ReactiveFlags.Watching) {
          notify(sub);
        }
      }
    } while ((link = link.nextSub) !== undefined);
  }
  function isValidLink(checkLink, sub) {
    let link = sub.depsTail;
    while (link !== undefined) {
      if (link === checkLink) {
        return true;
      }
      link = link.prevDep;
    }
    return false;
  }
}

const queuedEffects = [];
let cycle = 0;
const {
  link,
  unlink,
  propagate,
  checkDirty,
  shallowPropagate
} = createReactiveSystem({
  update(atom) {
    return atom._update();
  },
  notify(effect) {
    queuedEffects[queuedEffectsLength++] = effect;
    effect.flags &= ~ReactiveFlags.Watching;
  },
  unwatched(atom) {
    if (atom.depsTail !== undefined) {
      atom.depsTail = undefined;
      atom.flags = ReactiveFlags.Mutable | ReactiveFlags.Dirty;
      purgeDeps(atom);
    }
  }
});
let notifyIndex = 0;
let queuedEffectsLength = 0;
let activeSub;
function purgeDeps(sub) {
  const depsTail = sub.depsTail;
  let dep = depsTail !== undefined ? depsTail.nextDep : sub.deps;
  while (dep !== undefined) {
    dep = unlink(dep, sub);
  }
}
function flush() {
  while (notifyIndex < queuedEffectsLength) {
    const effect = queuedEffects[notifyIndex];
    queuedEffects[notifyIndex++] = undefined;
    effect.notify();
  }
  notifyIndex = 0;
  queuedEffectsLength = 0;
}

/** The current state of an async atom. */

/** Options passed to an async atom getter. */

function updateAsyncAtom(atom, nextValue) {
  if (atom._update(nextValue)) {
    const subs = atom.subs;
    if (subs !== undefined) {
      propagate(subs);
      shallowPropagate(subs);
      flush();
    }
  }
}

/**
 * Creates a read-only atom whose value is loaded from an async getter.
 *
 * The getter receives an `AbortSignal`; when the async atom recomputes, the
 * previous signal is aborted and stale resolutions are ignored.
 */
function createAsyncAtom(getValue, options) {
  const ref = {};
  let currentController;
  let currentRunId = 0;
  const atom = createAtom(() => {
    currentController?.abort();
    const controller = new AbortController();
    const runId = ++currentRunId;
    currentController = controller;
    getValue({
      signal: controller.signal
    }).then(data => {
      if (runId !== currentRunId || controller.signal.aborted) {
        return;
      }
      updateAsyncAtom(ref.current, {
        status: 'done',
        data
      });
    }, error => {
      if (runId !== currentRunId || controller.signal.aborted) {
        return;
      }
      updateAsyncAtom(ref.current, {
        status: 'error',
        error
      });
    });
    return {
      status: 'pending'
    };
  }, options);
  ref.current = atom;
  return atom;
}

/**
 * Creates an atom.
 *
 * Pass a value for a writable atom or a getter for a computed read-only atom.
 */

function createAtom(valueOrFn, optionsOrInput) {
  const isComputed = typeof valueOrFn === 'function';
  const getter = valueOrFn;

  // Create plain object atom
  const atom = {
    _snapshot: isComputed ? undefined : valueOrFn,
    subs: undefined,
    subsTail: undefined,
    deps: undefined,
    depsTail: undefined,
    flags: isComputed ? ReactiveFlags.None : ReactiveFlags.Mutable,
    get() {
      if (activeSub !== undefined) {
        link(atom, activeSub, cycle);
      }
      return atom._snapshot;
    },
    subscribe(observerOrFn) {
      const observer = typeof observerOrFn === 'function' ? {
        next: observerOrFn
      } : observerOrFn;
      const observed = {
        current: false
      };
      const e = effect(() => {
        atom.get();
        if (!observed.current) {
          observed.current = true;
        } else {
          const prevSub = activeSub;
          activeSub = undefined;
          try {
            observer.next?.(atom._snapshot);
          } finally {
            activeSub = prevSub;
          }

          // If the observer synchronously updates any of our deps we'll be
          // marked as dirty preventing this effect from re-running. Request
          // the value again to reconcile any dirty deps.
          atom.get();
        }
      });
      return {
        unsubscribe: () => {
          e.stop();
        }
      };
    },
    _update(getValue) {
      const prevSub = activeSub;
      const compare = optionsOrInput?.compare ?? Object.is;
      activeSub = atom;
      ++cycle;
      atom.depsTail = undefined;
      if (isComputed) {
        atom.flags = ReactiveFlags.Mutable | ReactiveFlags.RecursedCheck;
      }
      try {
        const oldValue = atom._snapshot;
        const newValue = typeof getValue === 'function' ? getValue(oldValue) : getValue === undefined && isComputed ? getter(oldValue) : getValue;
        if (oldValue === undefined || !compare(oldValue, newValue)) {
          atom._snapshot = newValue;
          return true;
        }
        return false;
      } finally {
        activeSub = prevSub;
        if (isComputed) {
          atom.flags &= ~ReactiveFlags.RecursedCheck;
        }
        purgeDeps(atom);
      }
    }
  };
  if (isComputed) {
    atom.flags = ReactiveFlags.Mutable | ReactiveFlags.Dirty;
    atom.get = function () {
      const flags = atom.flags;
      if (flags & ReactiveFlags.Dirty || flags & ReactiveFlags.Pending && checkDirty(atom.deps, atom)) {
        if (atom._update()) {
          const subs = atom.subs;
          if (subs !== undefined) {
            shallowPropagate(subs);
          }
        }
      } else if (flags & ReactiveFlags.Pending) {
        atom.flags = flags & ~ReactiveFlags.Pending;
      }
      if (activeSub !== undefined) {
        link(atom, activeSub, cycle);
      }
      return atom._snapshot;
    };
  } else {
    atom.set = function (valueOrFn) {
      if (atom._update(valueOrFn)) {
        const subs = atom.subs;
        if (subs !== undefined) {
          propagate(subs);
          shallowPropagate(subs);
          flush();
        }
      }
    };
  }
  return atom;
}

/**
 * Creates an inert atom config that can be instantiated later.
 *
 * Useful for framework hooks that need to create a stable local atom from
 * component input.
 */

function createAtomConfig(initialValueOrFn, options) {
  return {
    createAtom(input) {
      const initialValue = typeof initialValueOrFn === 'function' ? initialValueOrFn(input) : initialValueOrFn;
      return createAtom(initialValue, options);
    }
  };
}

/** Creates an atom whose updates are handled by a reducer function. */
function createReducerAtom(initialValue, reducer, options) {
  const atom = createAtom(initialValue, options);
  return {
    get: atom.get.bind(atom),
    subscribe: atom.subscribe.bind(atom),
    send(event) {
      const prevSub = activeSub;
      activeSub = undefined;
      let nextState;
      try {
        nextState = reducer(atom.get(), event);
      } finally {
        activeSub = prevSub;
      }
      atom.set(nextState);
    }
  };
}
function effect(fn) {
  const run = () => {
    const prevSub = activeSub;
    activeSub = effectObj;
    ++cycle;
    effectObj.depsTail = undefined;
    effectObj.flags = ReactiveFlags.Watching | ReactiveFlags.RecursedCheck;
    try {
      return fn();
    } finally {
      activeSub = prevSub;
      effectObj.flags &= ~ReactiveFlags.RecursedCheck;
      purgeDeps(effectObj);
    }
  };
  const effectObj = {
    deps: undefined,
    depsTail: undefined,
    subs: undefined,
    subsTail: undefined,
    flags: ReactiveFlags.Watching | ReactiveFlags.RecursedCheck,
    notify() {
      const flags = this.flags;
      if (flags & ReactiveFlags.Dirty || flags & ReactiveFlags.Pending && checkDirty(this.deps, this)) {
        run();
      } else {
        this.flags = ReactiveFlags.Watching;
      }
    },
    stop() {
      this.flags = ReactiveFlags.None;
      this.depsTail = undefined;
      purgeDeps(this);
    }
  };
  run();
  return effectObj;
}

const symbolObservable = (() => typeof Symbol === 'function' && Symbol.observable || '@@observable')();
const isDevelopment = globalThis.process?.env?.NODE_ENV !== 'production';
const UNSUPPORTED_ASYNC_TRANSITION_ERROR = 'Async transition unsupported here';
function isPromiseLike(value) {
  return !!value && typeof value.then === 'function';
}
function ignorePromiseRejection(value) {
  Promise.resolve(value).catch(() => {});
}
function createTransitionResult(snapshot, effects, allowed) {
  const result = [snapshot, effects];
  if (allowed !== undefined) {
    result._allowed = allowed;
  }
  return result;
}
function toEvent(eventType, payload) {
  return payload === undefined ? {
    type: eventType
  } : {
    ...payload,
    type: eventType
  };
}
function createEnqueueObject(effects, trigger) {
  return {
    emit: new Proxy({}, {
      get: (_, eventType) => {
        return payload => {
          effects.push(toEvent(eventType, payload));
        };
      }
    }),
    trigger: new Proxy({}, {
      get: (_, eventType) => {
        return payload => {
          trigger?.(toEvent(eventType, payload));
        };
      }
    }),
    effect: fn => {
      effects.push(fn);
    }
  };
}
function getDistinctEventTypes(eventTypes) {
  return [...new Set(eventTypes)];
}
function assertNoInternalEventTypeCollisions(existingEventTypes, internalEventTypes, extensionName) {
  if (!isDevelopment || !existingEventTypes?.length) {
    return;
  }
  const existingEventTypeSet = new Set(existingEventTypes);
  const collisions = getDistinctEventTypes(internalEventTypes.filter(eventType => existingEventTypeSet.has(eventType)));
  if (collisions.length === 0) {
    return;
  }
  throw new Error(`The "${extensionName}" store extension uses reserved event type(s): ${collisions.map(eventType => `"${eventType}"`).join(', ')}. Rename the conflicting store event(s) before applying the extension.`);
}
function appendInternalEventTypes(existingEventTypes, internalEventTypes, extensionName) {
  assertNoInternalEventTypeCollisions(existingEventTypes, internalEventTypes, extensionName);
  return getDistinctEventTypes([...(existingEventTypes ?? []), ...internalEventTypes]);
}
function createConcreteTrigger(eventTypes, send) {
  const trigger = {};
  for (const eventType of eventTypes) {
    trigger[eventType] = payload => {
      send(toEvent(eventType, payload));
    };
  }
  return trigger;
}
function createConcreteCan(eventTypes, can) {
  const canObject = {};
  for (const eventType of eventTypes) {
    canObject[eventType] = payload => {
      return can(toEvent(eventType, payload));
    };
  }
  return canObject;
}
function attachSelectors(store, selectorsConfig) {
  const selectors = {};
  for (const key of Object.keys(selectorsConfig)) {
    selectors[key] = store.select(selectorsConfig[key]);
  }
  const originalWith = store.with;
  const storeWithSelectors = store;
  storeWithSelectors.selectors = selectors;
  storeWithSelectors.with = extension => attachSelectors(originalWith(extension), selectorsConfig);
  return storeWithSelectors;
}
function createStoreCore(logic) {
  let listeners;
  let inspectionObservers;
  const initialSnapshot = logic.getInitialSnapshot();
  let currentSnapshot = initialSnapshot;
  const atom = createAtom(currentSnapshot);
  const eventTypes = logic.eventTypes;
  const schemas = logic.schemas;
  const emit = ev => {
    listeners?.get(ev.type)?.forEach(listener => listener(ev));
    listeners?.get('*')?.forEach(listener => listener(ev));
  };
  const transition = logic.transition;
  const notifyInspection = (event, snapshot) => {
    inspectionObservers?.forEach(observer => {
      observer.next?.({
        type: '@xstate.transition',
        event,
        snapshot,
        actorRef: store,
        rootId: store.sessionId
      });
    });
  };
  const send = event => {
    receive(event);
  };
  function receive(event) {
    const [nextSnapshot, effects] = transition(currentSnapshot, event);
    currentSnapshot = nextSnapshot;
    atom.set(nextSnapshot);
    notifyInspection(event, nextSnapshot);
    let committed = false;
    const effectEnqueue = {
      trigger,
      send,
      getSnapshot: () => committed ? currentSnapshot : nextSnapshot
    };
    for (const effect of effects) {
      if (typeof effect === 'function') {
        effect(effectEnqueue);
      } else {
        emit(effect);
      }
    }
    committed = true;
  }
  const trigger = eventTypes && eventTypes.length > 0 ? createConcreteTrigger(eventTypes, event => store.send(event)) : new Proxy({}, {
    get: (_, eventType) => {
      return payload => {
        send(toEvent(eventType, payload));
      };
    }
  });
  const can = eventTypes && eventTypes.length > 0 ? createConcreteCan(eventTypes, event => canTransition(event)) : new Proxy({}, {
    get: (_, eventType) => {
      return payload => {
        return canTransition(toEvent(eventType, payload));
      };
    }
  });
  function canTransition(event) {
    const snapshot = currentSnapshot;
    try {
      const result = transition(snapshot, event);
      const allowed = result._allowed;
      return allowed ?? (result[0] !== snapshot || result[1].length > 0);
    } catch (error) {
      if (isStoreValidationError(error)) {
        return false;
      }
      throw error;
    }
  }
  const store = {
    on(emittedEventType, handler) {
      if (!listeners) {
        listeners = new Map();
      }
      let eventListeners = listeners.get(emittedEventType);
      if (!eventListeners) {
        eventListeners = new Set();
        listeners.set(emittedEventType, eventListeners);
      }
      eventListeners.add(handler);
      return {
        unsubscribe() {
          eventListeners.delete(handler);
        }
      };
    },
    transition(state, event) {
      return transition(state, event);
    },
    schemas,
    sessionId: uniqueId(),
    send,
    getSnapshot() {
      return currentSnapshot;
    },
    get() {
      return atom.get();
    },
    getInitialSnapshot() {
      return initialSnapshot;
    },
    subscribe: atom.subscribe.bind(atom),
    [symbolObservable]() {
      return this;
    },
    inspect: observerOrFn => {
      const observer = typeof observerOrFn === 'function' ? {
        next: observerOrFn
      } : observerOrFn;
      (inspectionObservers ??= new Set()).add(observer);
      observer.next?.({
        type: '@xstate.transition',
        event: {
          type: '@xstate.init'
        },
        snapshot: currentSnapshot,
        actorRef: store,
        rootId: store.sessionId
      });
      return {
        unsubscribe() {
          return inspectionObservers?.delete(observer);
        }
      };
    },
    trigger,
    can,
    select(selector, equalityFn = Object.is) {
      return createAtom(() => selector(store.get().context), {
        compare: equalityFn
      });
    },
    with(extension) {
      const extendedLogic = extension(logic);
      return createStoreCore(extendedLogic);
    }
  };
  return store;
}

/**
 * Creates a **store** that has its own internal state and can be sent events
 * that update its internal state based on transitions.
 *
 * @example
 *
 * ```ts
 * const store = createStore({
 *   context: { count: 0, name: 'Ada' },
 *   on: {
 *     inc: (context, event: { by: number }) => ({
 *       ...context,
 *       count: context.count + event.by
 *     })
 *   }
 * });
 *
 * store.subscribe((snapshot) => {
 *   console.log(snapshot);
 * });
 *
 * store.send({ type: 'inc', by: 5 });
 * // Logs { context: { count: 5, name: 'Ada' }, status: 'active', ... }
 * ```
 *
 * @param config - The store configuration object
 * @param config.context - The initial state of the store
 * @param config.schemas - Optional standard-schema definitions used as type
 *   sources for context, events, and emitted events
 * @param config.on - An object mapping event types to transition functions
 * @returns A store instance with methods to send events and subscribe to state
 *   changes
 */

function createStore(definitionOrLogic) {
  if ('transition' in definitionOrLogic) {
    return createStoreCore(definitionOrLogic);
  }
  const transition = createStoreTransition(definitionOrLogic.on);
  const eventTypes = definitionOrLogic.schemas?.events ? Object.keys(definitionOrLogic.schemas.events) : Object.keys(definitionOrLogic.on);
  const logic = {
    eventTypes,
    schemas: definitionOrLogic.schemas,
    getInitialSnapshot: () => ({
      status: 'active',
      context: definitionOrLogic.context,
      output: undefined,
      error: undefined
    }),
    transition
  };
  return createStoreCore(logic);
}
function _createStoreConfig(definition) {
  return definition;
}
const createStoreConfig = _createStoreConfig;
function createStoreLogic(config) {
  return {
    createStore(input) {
      const context = typeof config.context === 'function' ? config.context(input) : config.context;
      const store = createStore({
        ...config,
        context
      });
      return config.selectors ? attachSelectors(store, config.selectors) : store;
    }
  };
}
/**
 * Creates a store transition function that handles state updates based on
 * events.
 *
 * @param transitions - An object mapping event types to transition functions
 * @param producer - Optional producer function (e.g., Immer's produce) for
 *   immutable updates
 * @returns A transition function that takes a snapshot and event and returns a
 *   new snapshot with effects
 */
function createStoreTransition(transitions, producer) {
  const storeTransition = (snapshot, event) => {
    let currentSnapshot = snapshot;
    const effects = [];
    const pendingEvents = [event];
    let allowed = false;
    while (pendingEvents.length > 0) {
      const currentEvent = pendingEvents.shift();
      const currentContext = currentSnapshot.context;
      const assigner = transitions?.[currentEvent.type];
      let producerAssignerResult;
      let assignerResult = undefined;
      const effectsLength = effects.length;
      if (!assigner) {
        continue;
      }
      const enqueue = createEnqueueObject(effects, triggeredEvent => {
        allowed = true;
        pendingEvents.push(triggeredEvent);
      });
      const nextContext = producer ? producer(currentContext, draftContext => producerAssignerResult = assigner(draftContext, currentEvent, enqueue)) : (assignerResult = assigner(currentContext, currentEvent, enqueue)) === undefined ? currentContext : assignerResult;
      if (isPromiseLike(producer ? producerAssignerResult : nextContext)) {
        ignorePromiseRejection(producer ? producerAssignerResult : nextContext);
        throw new Error(UNSUPPORTED_ASYNC_TRANSITION_ERROR);
      }
      allowed ||= producer ? nextContext !== currentContext || effects.length > effectsLength : assignerResult !== undefined || effects.length > effectsLength;
      if (nextContext !== currentContext) {
        currentSnapshot = {
          ...currentSnapshot,
          context: nextContext
        };
      }
    }
    return createTransitionResult(currentSnapshot, effects, allowed);
  };
  return storeTransition;
}

/**
 * Generates a unique 6-character identifier.
 *
 * @returns A random string identifier
 */
function uniqueId() {
  return Math.random().toString(36).slice(6);
}

export { appendInternalEventTypes as a, createStoreTransition as b, createEnqueueObject as c, createStore as d, createStoreConfig as e, createStoreLogic as f, createAtom as g, createAtomConfig as h, createAsyncAtom as i, createReducerAtom as j, assertNoInternalEventTypeCollisions as k };
