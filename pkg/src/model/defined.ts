// Objects without members that are `undefined`.

/** An object whose members are absent where they were `undefined`. */
export type Defined<T> = { [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** A copy of an object without the members that are `undefined`. */
export function defined<T extends object>(members: T): Defined<T> {
  const present: Partial<T> = {};
  for (const name in members) {
    if (members[name] !== undefined) {
      present[name] = members[name];
    }
  }
  return present as unknown as Defined<T>;
}
