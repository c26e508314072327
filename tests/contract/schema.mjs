// A validator as any library of Standard Schema would make it.

/** An object with a text `name` and a number `age`, which it gives back alone. */
export const person = {
  '~standard': {
    version: 1,
    vendor: 'tests',
    validate: (value) =>
      typeof value?.name === 'string' && typeof value.age === 'number'
        ? { value: { name: value.name, age: value.age } }
        : { issues: [{ message: 'not a person' }] },
  },
};
