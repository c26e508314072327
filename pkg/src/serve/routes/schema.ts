// The vocabulary of declarations: the part of JSON Schema (2020-12) that requests are checked by, as typed data.

/** The members that all schemas may have. */
interface Described {
  readonly description?: string;
}

/** A text. */
export interface TextSchema extends Described {
  readonly type: 'string';
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** A number, or a whole one. */
export interface NumberSchema extends Described {
  readonly type: 'number' | 'integer';
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A number, or `null`. */
export interface NullableNumberSchema extends Described {
  readonly type: readonly ['number', 'null'];
  readonly minimum?: number;
}

/** True or false. */
export interface BooleanSchema extends Described {
  readonly type: 'boolean';
}

/** A list. */
export interface ListSchema extends Described {
  readonly type: 'array';
  readonly items: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** An object: with known members, or with any keys. */
export interface ObjectSchema extends Described {
  readonly type: 'object';
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** Of all other members: false where there may be none; any when it is absent. */
  readonly additionalProperties?: Schema | false;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

/** Any JSON value. */
export interface AnySchema extends Described {
  readonly type?: never;
}

/** A schema. */
export type Schema =
  TextSchema | NumberSchema | NullableNumberSchema | BooleanSchema | ListSchema | ObjectSchema | AnySchema;

/** The type of the values that a schema describes. */
export type ValueOf<S> = S extends { readonly enum: readonly (infer Choice)[] }
  ? Choice
  : S extends { readonly type: 'string' }
    ? string
    : S extends { readonly type: 'number' | 'integer' }
      ? number
      : S extends { readonly type: readonly ['number', 'null'] }
        ? number | null
        : S extends { readonly type: 'boolean' }
          ? boolean
          : S extends { readonly type: 'array'; readonly items: infer Item }
            ? readonly ValueOf<Item>[]
            : S extends { readonly type: 'object'; readonly properties: infer Members }
              ? MembersOf<Members, S>
              : S extends { readonly type: 'object'; readonly additionalProperties: infer Value }
                ? Readonly<Record<string, ValueOf<Value>>>
                : S extends { readonly type: 'object' }
                  ? Readonly<Record<string, unknown>>
                  : unknown;

type RequiredOf<S> = S extends { readonly required: readonly (infer Name)[] } ? Name : never;

type MembersOf<Members, S> = {
  readonly [Name in keyof Members as Name extends RequiredOf<S> ? Name : never]: ValueOf<Members[Name]>;
} & {
  readonly [Name in keyof Members as Name extends RequiredOf<S> ? never : Name]?: ValueOf<Members[Name]> | undefined;
};
