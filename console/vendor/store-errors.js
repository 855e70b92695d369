const storeValidationErrorSymbol = Symbol.for('xstate.store.validationError');
function isStoreValidationError(error) {
  return !!error && typeof error === 'object' && storeValidationErrorSymbol in error;
}

export { isStoreValidationError as i, storeValidationErrorSymbol as s };
