/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a network of another framework as ONNX messages, which the importer of ONNX reads: there
 * is one way from a graph to a model. Opset 13.
 */
#pragma once

#include <cstdio>
#include <google/protobuf/stubs/logging.h>
#include <leo/model_import.h>
#include <onnx.pb.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace leo
{

/** A network that cannot be read or is not served; the text goes to the user. */
struct import_error : std::runtime_error {
    import_error(leo_status status_, const std::string &text)
        : std::runtime_error(text), status(status_)
    {
    }
    leo_status status;
};

using names = std::vector<std::string>;
using dims = std::vector<int64_t>;

class onnx_writer
{
  public:
    onnx_writer();
    /** A node; attributes are added to what is returned (set_... below). */
    onnx_file::Node &node(const std::string &type, const names &inputs, const names &outputs);
    /** The same with one output of a new name, which is returned. */
    std::string apply(const std::string &type, const names &inputs);
    std::string apply(const std::string &type, const names &inputs, onnx_file::Node *&made);
    /** Weights; each call makes a new tensor. */
    std::string floats(const dims &shape, const std::vector<float> &data);
    std::string ints(const dims &data);
    std::string number(float value);
    std::string integer(int64_t value);
    /** Raw data of an ONNX type (onnx_type) under a given name. */
    void raw(const std::string &name, int onnx_type, const dims &shape, std::string data);
    void input(const std::string &name, int onnx_type, const dims &shape);
    void output(const std::string &name);
    /** A name that no tensor has yet. */
    std::string fresh(const std::string &stem);
    std::string serialize() const;

  private:
    onnx_file::Model model_;
    unsigned next_ = 0;
};

void set_int(onnx_file::Node &node, const char *name, int64_t value);
void set_float(onnx_file::Node &node, const char *name, float value);
void set_ints(onnx_file::Node &node, const char *name, const dims &values);
void set_text(onnx_file::Node &node, const char *name, const std::string &value);

/** Numbers with their dimensions in another order: dimension `order[d]` comes to place d. */
std::vector<float> turned(const std::vector<float> &data, const dims &shape, const dims &order);

/** Numbers of ONNX's element types. */
enum onnx_type {
    ONNX_FLOAT = 1,
    ONNX_U8 = 2,
    ONNX_S8 = 3,
    ONNX_S32 = 6,
    ONNX_S64 = 7,
    ONNX_BOOL = 9,
    ONNX_F16 = 10
};

/** Runs `import`, which gives the bytes of an ONNX file; exceptions become a status and a text. */
template <typename F>
leo_status give_onnx(F &&import, uint8_t **onnx, size_t *bytes, char error[LEO_MODEL_ERROR]);
/** Copies a file's bytes for a caller in C. */
leo_status give_bytes(const std::string &file, uint8_t **onnx, size_t *bytes);

template <typename F>
leo_status give_onnx(F &&import, uint8_t **onnx, size_t *bytes, char error[LEO_MODEL_ERROR])
{
    const google::protobuf::LogSilencer silent; // what is wrong stands in `error`
    try {
        return give_bytes(import(), onnx, bytes);
    } catch (const import_error &problem) {
        std::snprintf(error, LEO_MODEL_ERROR, "%s", problem.what());
        return problem.status;
    } catch (const std::bad_alloc &) {
        std::snprintf(error, LEO_MODEL_ERROR, "out of host memory");
        return LEO_ERR_NO_MEMORY;
    } catch (const std::exception &problem) { // an index of a file's that lies outside
        std::snprintf(error, LEO_MODEL_ERROR, "the network is damaged (%s)", problem.what());
        return LEO_ERR_PARSE;
    }
}

} // namespace leo
